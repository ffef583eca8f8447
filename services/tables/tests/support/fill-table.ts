import { sql } from "@workflow/db";
import { z } from "zod";
import type { Harness } from "./harness.ts";

/** Gives an empty table many rows at once, each with one text that is made of its number. */
export async function fillTable(
  { database }: Harness,
  tableId: string,
  { rows, prefix, repeats }: { rows: number; prefix: string; repeats: number },
): Promise<void> {
  await database.query(sql.type(z.object({}))`
    with state as (
      update tables.table_states as state
      set revision = state.revision + 1, row_count = ${rows}, next_position = ${rows}
      from tables.tables as "table"
      where "table".id = ${tableId} and state.table_key = "table".key
      returning state.table_key, state.revision
    )
    insert into tables.rows (table_key, position, id, data, revision)
    select
      state.table_key,
      item.n,
      gen_random_uuid(),
      json_build_object(
        'amount', item.n,
        'name', ${prefix}::text || repeat(md5(item.n::text), ${repeats}::integer)
      ),
      state.revision
    from state
    cross join generate_series(0, ${rows - 1}::integer) as item (n)
  `);
}
