import { newId } from "@workflow/db";

/** A new id for a column without one. */
export function newColumnId(): string {
  return newId("col_");
}
