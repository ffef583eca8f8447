import { sql } from "@workflow/db";
import type { SqlFragment } from "@workflow/db";

/**
 * The most data that one statement unpacks only to measure it. Unpacking it takes Postgres some 0.1 s.
 */
export const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
/**
 * The most data that one statement parses as JSON. Postgres takes a second or two for it. Even a machine with ten
 * times the load stays within a statement's time.
 */
export const PARSED_BYTES_MAX = 16 * 1024 * 1024;

/** The most bytes in the data of a row (`parseRowData`). */
const ROW_BYTES_MAX = 1024 * 1024;
/**
 * Neither of Postgres's ways to pack a value gets below this part of its size, or only slightly.
 */
const PACKED_MAX = 256;

/**
 * The most bytes that data can have, without unpacking it. Postgres learns the true length of a packed value only
 * by unpacking.
 */
export function bytesAtMost(data: SqlFragment): SqlFragment {
  return sql.fragment`
    case
      when pg_column_compression(${data}) is null then pg_column_size(${data})
      else least(pg_column_size(${data}) * ${PACKED_MAX}::integer, ${ROW_BYTES_MAX}::integer)
    end
  `;
}
