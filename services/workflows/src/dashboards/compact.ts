/**
 * A rectangle of the grid: column and row of its upper left corner, and its size in columns and
 * rows.
 */
export interface Rectangle {
  x: number;
  y: number;
  w: number;
  h: number;
}

export const GRID_COLUMNS = 12;

/**
 * Moves rectangles up or down, never sideways, until none overlap and each lies directly below
 * another one or at the top. Rectangles are processed by row, then column, then the given order; of
 * two that share a column the earlier one stays above. The result is stable, and is sorted by row
 * and column.
 */
export function compact<Placed extends Rectangle>(rectangles: readonly Placed[]): Placed[] {
  const bottoms = Array.from({ length: GRID_COLUMNS }, () => 0);
  return rectangles
    .toSorted(byRowAndColumn)
    .map((rectangle) => {
      const { x, w, h } = rectangle;
      const y = Math.max(...bottoms.slice(x, x + w));
      bottoms.fill(y + h, x, x + w);
      return { ...rectangle, y };
    })
    .toSorted(byRowAndColumn);
}

/** The first position, row by row, where a rectangle of this size fits without moving others. */
export function findPlace(
  taken: readonly Rectangle[],
  { w, h }: Pick<Rectangle, "w" | "h">,
): Rectangle {
  // At any other position it could move up.
  const rows = new Set([0, ...taken.map((other) => other.y + other.h)]);
  for (const y of [...rows].toSorted((a, b) => a - b)) {
    for (let x = 0; x + w <= GRID_COLUMNS; x += 1) {
      const place = { x, y, w, h };
      if (!taken.some((other) => overlap(place, other))) return place;
    }
  }
  throw new RangeError("The rectangle is wider than the grid.");
}

/** Whether two rectangles overlap. */
export function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function byRowAndColumn(a: Rectangle, b: Rectangle): number {
  return a.y - b.y || a.x - b.x;
}
