import { isUuid } from "@workflow/db";
import { rowNotFound } from "../store/rows-record.ts";

/**
 * A row's id as it is stored.
 *
 * @throws AppError NOT_FOUND for one of the wrong form, as for an unknown one (D1)
 */
export function requireRowId(rowId: string): string {
  if (!isUuid(rowId)) throw rowNotFound();
  return rowId.toLowerCase();
}
