import type { Row } from "@workflow/proto/tables/v1/rows";
import type { RowRecord } from "../store/rows-record.ts";

/** A row as callers get it; its data is passed on as the text that it is stored as. */
export function toRowMessage({ id, data, position, createdAt, updatedAt }: RowRecord): Row {
  return { id, dataJson: data, position, createdAt, updatedAt };
}
