import { sql } from "@workflow/db";
import type { SqlFragment } from "@workflow/db";

/** Of data that one statement unpacks only to find out how long it is: some 0.1 s of Postgres. */
export const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Of data that one statement parses as JSON. That takes Postgres a second or two, or, when the machine has
 * ten times as much to do as it can, still less than a statement may take.
 */
export const PARSED_BYTES_MAX = 16 * 1024 * 1024;

/** Data of a row has no more (`parseRowData`). */
const ROW_BYTES_MAX = 1024 * 1024;
/** Neither of Postgres's ways to pack a value makes it smaller than this part of it, or hardly. */
const PACKED_MAX = 256;

/**
 * How long data is at the most, without unpacking it. How long a packed value really is Postgres cannot
 * tell before that.
 */
export function bytesAtMost(data: SqlFragment): SqlFragment {
  return sql.fragment`
    case
      when pg_column_compression(${data}) is null then pg_column_size(${data})
      else least(pg_column_size(${data}) * ${PACKED_MAX}::integer, ${ROW_BYTES_MAX}::integer)
    end
  `;
}
