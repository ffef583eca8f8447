import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import type { Table } from "@workflow/proto/tables/v1/tables";
import { ColumnType } from "@workflow/proto/tables/v1/tables";
import { InsertRowRequest, QueryRowsRequest } from "@workflow/proto/tables/v1/rows";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { column, importMessages, newTable } from "./support/table-requests.ts";

/*
 * Postgres plans by statistics of all rows, which know nothing of a table that is newer than they are.
 */

const ROWS = 20_000;
const CHANGES = 5;

let harness: Harness;
// The statistics of one case must not know the tables of the other one.
beforeEach(async () => {
  harness = await startHarness();
});
afterEach(() => harness.close());

const options = { identity: newIdentity() };
const table = newTable({
  maxRows: 2 * ROWS,
  columns: { columns: [column("n", { type: ColumnType.NUMBER })] },
});

const importTable = (rows: number): Promise<Table> =>
  harness.tables.importTable(
    importMessages(
      table,
      Array.from({ length: rows }, (_, n) => ({ n })),
      700,
    ),
    options,
  );

/** How many rows the sessions so far have told that they found in each index of the rows. */
async function foundByIndex(): Promise<Map<string, number>> {
  const found = await harness.database.any(
    sql.type(z.object({ index: z.string(), count: z.number() }))`
      select indexrelname as "index", idx_tup_read as "count"
      from pg_stat_user_indexes
      where schemaname = 'tables' and relname = 'rows'
    `,
  );
  return new Map(found.map(({ index, count }) => [index, count]));
}

describe("the first question about a new table", () => {
  it.each([
    ["one other table", [ROWS]],
    ["many tables of one row", Array.from({ length: 300 }, () => 1)],
  ])("reads each row by its position, when statistics know of %s", async (_, others) => {
    for (const rows of others) await importTable(rows);
    await harness.database.query(sql.type(z.object({}))`analyze tables.rows`);
    const { id: tableId } = await importTable(ROWS);
    const before = await foundByIndex();
    const since = async (index: string) =>
      ((await foundByIndex()).get(index) ?? 0) - (before.get(index) ?? 0);

    const ask = async (): Promise<number> => {
      const condition = { operator: "less_than", value: ROWS / 2 };
      const filterJson = JSON.stringify({ n: { condition } });
      const request = QueryRowsRequest.create({ tableId, filterJson, sort: "n" });
      return (await harness.rows.queryRows(request, options)).total;
    };
    expect(await ask()).toBe(ROWS / 2);
    const untilTold = (index: string, atLeast: number) =>
      waitFor(async () => expect(await since(index)).toBeGreaterThanOrEqual(atLeast), {
        timeoutMs: 60_000,
        what: `a session to tell what it has read by ${index}`,
      });
    await untilTold("rows_pkey", ROWS);
    expect(await since("rows_by_revision_idx")).toBe(0);

    // What has changed since then is found by its revision.
    const byPosition = await since("rows_pkey");
    for (let nth = 1; nth <= CHANGES; nth += 1) {
      await harness.rows.insertRow(
        InsertRowRequest.create({ tableId, dataJson: '{"n":0}' }),
        options,
      );
      expect(await ask()).toBe(ROWS / 2 + nth);
    }
    await untilTold("rows_by_revision_idx", CHANGES);
    expect((await since("rows_pkey")) - byPosition).toBeLessThan(ROWS);
  });
});
