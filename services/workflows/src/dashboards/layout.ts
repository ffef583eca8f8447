import { AppError, invalidRequest } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { GRID_COLUMNS } from "./compact.ts";
import type { Rectangle } from "./compact.ts";

/** The position of a widget. */
export interface WidgetPlace extends Rectangle {
  /** The widget's id. */
  id: string;
}

export const WIDGETS_MAX = 40;

/** The default size of a widget, in columns and rows. */
export const SIZE_DEFAULT = 4;

/** More ids do not fit into the error of an RPC, and the caller has to reload in any case. */
const IDS_TOLD_MAX = 20;
const ROWS_MAX = 12;
/** Rows are exact numbers, including that of the lower edge. */
const Y_MAX = Number.MAX_SAFE_INTEGER - ROWS_MAX;

/** The problems of a position, each below the given path. */
export function placeProblems(
  { x, y, w, h }: Rectangle,
  path: readonly string[] = [],
): Violation[] {
  const problems: Violation[] = [];
  const check = (name: string, value: number, min: number, max: number): void => {
    if (Number.isSafeInteger(value) && value >= min && value <= max) return;
    const message = `must be a whole number from ${min} to ${max}`;
    problems.push({ path: [...path, name], message });
  };
  check("x", x, 0, GRID_COLUMNS - 1);
  check("y", y, 0, Y_MAX);
  check("w", w, 1, GRID_COLUMNS);
  check("h", h, 1, ROWS_MAX);
  if (problems.length === 0 && x + w > GRID_COLUMNS) {
    const message = `must not be more than ${GRID_COLUMNS - x} at column ${x}`;
    problems.push({ path: [...path, "w"], message });
  }
  return problems;
}

/**
 * Checks the positions of a dashboard's widgets.
 *
 * @throws AppError BAD_REQUEST
 */
export function requireLayout(places: readonly WidgetPlace[]): void {
  if (places.length > WIDGETS_MAX) {
    throw invalidRequest([
      { path: ["widgets"], message: `must have at most ${WIDGETS_MAX} entries` },
    ]);
  }
  const seen = new Set<string>();
  const problems = places.flatMap((place, index): Violation[] => {
    const path = ["widgets", String(index)];
    const isRepeated = seen.has(place.id);
    seen.add(place.id);
    return [
      ...(isRepeated ? [{ path: [...path, "id"], message: "must not be given twice" }] : []),
      ...placeProblems(place, path),
    ];
  });
  if (problems.length > 0) throw invalidRequest(problems);
}

/**
 * Checks that positions belong to exactly these widgets.
 *
 * @throws AppError BAD_REQUEST for an unknown widget; CONFLICT, with their ids, for widgets that
 * were added meanwhile
 */
export function requireComplete(
  places: readonly WidgetPlace[],
  widgets: readonly { readonly id: string }[],
): void {
  const known = new Set(widgets.map(({ id }) => id));
  const foreign = places.flatMap(({ id }, index): Violation[] =>
    known.has(id)
      ? []
      : [{ path: ["widgets", String(index), "id"], message: "is no widget of this dashboard" }],
  );
  if (foreign.length > 0) throw invalidRequest(foreign);
  const given = new Set(places.map(({ id }) => id));
  const widgetIds = [...known].filter((id) => !given.has(id)).slice(0, IDS_TOLD_MAX);
  if (widgetIds.length === 0) return;
  const message = "The dashboard has widgets that the layout leaves out: load it again.";
  throw new AppError("CONFLICT", message, { details: { widgetIds } });
}

/** Positions as the audit log compares them: texts by id. */
export function placesById(places: readonly WidgetPlace[]): ReadonlyMap<string, string> {
  return new Map(places.map(({ id, x, y, w, h }) => [id, JSON.stringify([x, y, w, h])]));
}
