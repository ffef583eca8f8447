/** A rectangle of the grid: column and row of its upper left corner, columns and rows it takes. */
export interface Rectangle {
  x: number;
  y: number;
  w: number;
  h: number;
}

export const GRID_COLUMNS = 12;

/**
 * Moves rectangles up or down, never sideways, until none overlap and each lies directly below
 * another one or at the top. They are taken row by row and column by column, those at the same place
 * in the given order; of two that share a column the earlier one stays above. What comes out does not
 * change any more, and is in row and column order.
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

/** The first place, row by row, where a rectangle of this size fits without moving others. */
export function findPlace(
  taken: readonly Rectangle[],
  { w, h }: Pick<Rectangle, "w" | "h">,
): Rectangle {
  // Anywhere else it could move up.
  const rows = new Set([0, ...taken.map((other) => other.y + other.h)]);
  for (const y of [...rows].toSorted((a, b) => a - b)) {
    for (let x = 0; x + w <= GRID_COLUMNS; x += 1) {
      const place = { x, y, w, h };
      if (!taken.some((other) => overlap(place, other))) return place;
    }
  }
  throw new RangeError("The rectangle is wider than the grid.");
}

/** Whether two rectangles share a part of the grid. */
export function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function byRowAndColumn(a: Rectangle, b: Rectangle): number {
  return a.y - b.y || a.x - b.x;
}
