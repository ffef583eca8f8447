import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { badRequest } from "../domain/content.ts";
import { GRID_COLUMNS } from "./compact.ts";
import type { Rectangle } from "./compact.ts";

/** Where a widget lies. */
export interface WidgetPlace extends Rectangle {
  /** The widget's id. */
  id: string;
}

export const WIDGETS_MAX = 40;

/** Columns and rows of a widget of which nothing else was said. */
export const SIZE_DEFAULT = 4;

/** More do not fit into the error of an RPC, and all that helps is to load the dashboard. */
const IDS_TOLD_MAX = 20;
const ROWS_MAX = 12;
/** Rows are exact numbers, that of the lower edge as well. */
const Y_MAX = Number.MAX_SAFE_INTEGER - ROWS_MAX;

/** What is wrong with a place, each below the path given. */
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

/** @throws AppError BAD_REQUEST unless these may be the places of a dashboard's widgets */
export function requireLayout(places: readonly WidgetPlace[]): void {
  if (places.length > WIDGETS_MAX) {
    throw badRequest([{ path: ["widgets"], message: `must have at most ${WIDGETS_MAX} entries` }]);
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
  if (problems.length > 0) throw badRequest(problems);
}

/**
 * Throws unless places are those of exactly these widgets: BAD_REQUEST for one that is not among
 * them, else CONFLICT, with their ids, for widgets that were added meanwhile.
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
  if (foreign.length > 0) throw badRequest(foreign);
  const given = new Set(places.map(({ id }) => id));
  const widgetIds = [...known].filter((id) => !given.has(id)).slice(0, IDS_TOLD_MAX);
  if (widgetIds.length === 0) return;
  const message = "The dashboard has widgets that the layout leaves out: load it again.";
  throw new AppError("CONFLICT", message, { details: { widgetIds } });
}

/** Places as the audit log compares them: by id, as texts. */
export function placesById(places: readonly WidgetPlace[]): ReadonlyMap<string, string> {
  return new Map(places.map(({ id, x, y, w, h }) => [id, JSON.stringify([x, y, w, h])]));
}
