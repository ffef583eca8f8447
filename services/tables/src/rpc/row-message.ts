import type { Row } from "@workflow/proto/tables/v1/rows";
import type { RowRecord } from "../store/rows-record.ts";

/** The message for a row. Its data is the stored text. */
export function toRowMessage({ id, data, position, createdAt, updatedAt }: RowRecord): Row {
  return { id, dataJson: data, position, createdAt, updatedAt };
}
