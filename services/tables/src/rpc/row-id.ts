import { isUuid } from "@workflow/db";
import { rowNotFound } from "../store/rows-record.ts";

/**
 * The stored form of a row's id.
 * @throws AppError NOT_FOUND for an id of the wrong form, as for an unknown one (D1)
 */
export function requireRowId(rowId: string): string {
  if (!isUuid(rowId)) throw rowNotFound();
  return rowId.toLowerCase();
}
