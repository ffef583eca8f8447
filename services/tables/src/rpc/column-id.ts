import { newId } from "@workflow/db";

/** An id for a column that was given none. */
export function newColumnId(): string {
  return newId("col_");
}
