import { sql } from "@workflow/db";
import type { SqlFragment } from "@workflow/db";

/** Most data that one statement unpacks only to measure it: some 0.1 s of Postgres. */
export const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Most data that one statement parses as JSON. Postgres takes a second or two for it. A machine with ten
 * times as much to do as it can still takes less than a statement may.
 */
export const PARSED_BYTES_MAX = 16 * 1024 * 1024;

/** The data of a row has no more bytes (`parseRowData`). */
const ROW_BYTES_MAX = 1024 * 1024;
/** Neither of Postgres's ways to pack a value makes it smaller than this part of it, or hardly. */
const PACKED_MAX = 256;

/**
 * How long data is at the most, without unpacking it. Postgres learns the true length of a packed value
 * only by unpacking.
 */
export function bytesAtMost(data: SqlFragment): SqlFragment {
  return sql.fragment`
    case
      when pg_column_compression(${data}) is null then pg_column_size(${data})
      else least(pg_column_size(${data}) * ${PACKED_MAX}::integer, ${ROW_BYTES_MAX}::integer)
    end
  `;
}
