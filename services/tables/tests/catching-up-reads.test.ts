import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { z } from "zod";
import { CompanyConnections } from "../src/company-connections.ts";
import { createTableHeads, Snapshots, TableReader } from "../src/snapshots/index.ts";
import { fillTable } from "./support/fill-table.ts";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable, NUMBER } from "./support/row-table.ts";

const ROWS = 20_000;
const nothing = z.object({});
const readRow = z.object({ read: z.number() });

let harness: Harness;
/** One connection, so that its statistics can be flushed. */
let database: Database;

beforeAll(async () => {
  harness = await startHarness();
  database = await openDatabase({
    connectionUri: harness.databaseUri,
    role: "workflow_tables",
    applicationName: "test",
    maxConnections: 1,
  });
});
afterAll(async () => {
  await database.end();
  await harness.close();
});

/** How many rows of tables were read so far, dead ones included. */
async function countRead(): Promise<number> {
  await database.query(sql.type(nothing)`select pg_stat_force_next_flush()`);
  await database.query(sql.type(nothing)`select`);
  const { read } = await harness.database.one(sql.type(readRow)`
    select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::float8 as read
    from pg_stat_user_tables where schemaname = 'tables' and relname = 'rows'
  `);
  return read;
}

it("catching up with a table passes by none of the rows that one import has written", async () => {
  const { tableId, identity } = await createRowTable(harness, newIdentity());
  await fillTable(harness, tableId, { rows: ROWS, prefix: "r", repeats: 1 });
  const connections = new CompanyConnections(database);
  const reader = new TableReader({ connections, cacheBytesMax: 64 * 1024 * 1024 });
  const heads = createTableHeads(connections);
  const snapshots = new Snapshots({ reader, heads, connections });
  const name = { tableId, companyId: identity.companyId };
  const distinct = (): Promise<{ values: readonly unknown[] }> =>
    snapshots.listDistinct(name, () => ({
      column: NUMBER,
      filter: [],
      search: "",
      limit: 100,
    }));
  await distinct();
  const before = await countRead();
  for (let time = 0; time < 5; time += 1) await distinct();
  expect((await countRead()) - before).toBeLessThan(ROWS);
});
