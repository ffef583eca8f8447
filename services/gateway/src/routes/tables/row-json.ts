import type { QueryRowsResponse, Row } from "@workflow/proto/tables/v1/rows";
import { RawJson } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/** A row as the contract shows it, its data as the text that is stored. */
export function rowJson({ id, dataJson, position, createdAt, updatedAt }: Row): Writable {
  return { id, data: new RawJson(dataJson), position: position ?? null, createdAt, updatedAt };
}

/** A page of rows. */
export function rowsReply({ rows, total, limit, offset, hasMore }: QueryRowsResponse) {
  return { status: 200, data: rows.map(rowJson), meta: { total, limit, offset, hasMore } } as const;
}
