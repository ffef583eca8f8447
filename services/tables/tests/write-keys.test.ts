import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { SortOrder } from "@workflow/proto/tables/v1/rows";
import type { Row } from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import { forgetOldKeys } from "../src/store/write-keys.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Clients, Harness } from "./support/harness.ts";
import { createRowTable, deleteRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";

/** Writes of runs carry a key, so that a step that is executed twice writes once. */
let harness: Harness;
let other: Clients;

beforeAll(async () => {
  harness = await startHarness();
  other = harness.connect(await harness.start());
});
afterAll(() => harness.close());

const tableWithEvents = (more: object = {}) =>
  createRowTable(harness, newIdentity(), { rowEvents: true, ...more });
const originOf = (idempotencyKey: string) => ({ runId: "run_1", idempotencyKey });

/** The three writes under a key, each by one of two processes. */
function writesOf({ tableId, identity }: RowTable, key: string, { rows }: Clients = harness) {
  const origin = originOf(key);
  return {
    insert: (data: object) =>
      rows.insertRow({ tableId, dataJson: JSON.stringify(data), origin }, { identity }),
    update: (rowId: string, data: object, merge = false) =>
      rows.updateRow(
        { tableId, rowId, dataJson: JSON.stringify(data), merge, origin },
        { identity },
      ),
    delete: (rowId: string) => rows.deleteRow({ tableId, rowId, origin }, { identity }),
  };
}

async function rowsOf({ tableId, identity }: RowTable): Promise<Row[]> {
  const all = { filterJson: "", sort: "", order: SortOrder.ASC, legacyFilter: false };
  const page = { tableId, limit: 100, offset: 0 };
  return (await harness.rows.queryRows({ ...page, ...all }, { identity })).rows;
}

const eventRow = z.object({ type: z.string(), runId: z.string().nullable() });

const eventsOf = ({ tableId }: RowTable) =>
  harness.database.any(sql.type(eventRow)`
    select type, payload -> 'data' ->> 'runId' as "runId" from tables.event_log
    where payload -> 'data' ->> 'tableId' = ${tableId}
    order by seq
  `);

describe("a write under a key", () => {
  it("adds one row however often and wherever it is sent, and tells of it once", async () => {
    const table = await tableWithEvents();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        writesOf(table, "run_1:insert:1", n % 2 === 0 ? harness : other).insert({ n: 1 }),
      ),
    );
    const rows = await rowsOf(table);
    expect(rows).toHaveLength(1);
    for (const answer of answers) expect(answer).toEqual(rows[0]);
    expect(await eventsOf(table)).toEqual([{ type: "table.row_created", runId: "run_1" }]);
  });

  it("is another one under another key, or in another table", async () => {
    const [first, second] = [await tableWithEvents(), await tableWithEvents()];
    await writesOf(first, "a").insert({});
    await writesOf(first, "b").insert({});
    await writesOf(second, "a").insert({});
    expect(await rowsOf(first)).toHaveLength(2);
    expect(await rowsOf(second)).toHaveLength(1);
  });

  it("that added a row is answered in the same way when the row is changed or gone", async () => {
    const table = await tableWithEvents();
    const write = writesOf(table, "a");
    const row = await write.insert({ n: 1 });
    await writesOf(table, "b").update(row.id, { n: 2 });
    expect(await write.insert({ n: 1 })).toEqual(row);
    await writesOf(table, "c").delete(row.id);
    expect(await write.insert({ n: 1 })).toEqual(row);
    expect(await rowsOf(table)).toEqual([]);
  });

  it("that changes a row does not undo what was changed since", async () => {
    const table = await tableWithEvents();
    const { id } = await writesOf(table, "a").insert({ n: 1, keep: true });
    await writesOf(table, "b").update(id, { n: 2 }, true);
    await writesOf(table, "c").update(id, { n: 3 }, true);
    const again = await writesOf(table, "b", other).update(id, { n: 2 }, true);
    expect(JSON.parse(again.dataJson)).toEqual({ n: 3, keep: true });
    expect((await eventsOf(table)).map(({ type }) => type)).toEqual([
      "table.row_created",
      "table.row_updated",
      "table.row_updated",
    ]);
  });

  it("that deletes a row has done so when it comes again", async () => {
    const table = await tableWithEvents();
    const { id } = await writesOf(table, "a").insert({});
    await writesOf(table, "b").delete(id);
    await writesOf(table, "b", other).delete(id);
    const error = await errorOf(writesOf(table, "c").delete(id));
    expect(error.reason).toBe("NOT_FOUND");
    expect((await eventsOf(table)).map(({ type }) => type)).toEqual([
      "table.row_created",
      "table.row_deleted",
    ]);
  });

  it("that was refused can be made later", async () => {
    const table = await tableWithEvents({ maxRows: 1 });
    const { id } = await writesOf(table, "a").insert({ n: 1 });
    const error = await errorOf(writesOf(table, "b").insert({ n: 2 }));
    expect(error.message).toBe("Table has reached its maximum row limit of 1");
    await writesOf(table, "c").delete(id);
    await writesOf(table, "b").insert({ n: 2 });
    expect((await rowsOf(table)).map(({ dataJson }) => dataJson)).toEqual([`{"n":2}`]);
    const unknown = newUuid();
    expect((await errorOf(writesOf(table, "d").update(unknown, {}))).reason).toBe("NOT_FOUND");
    expect((await errorOf(writesOf(table, "e").delete(unknown))).reason).toBe("NOT_FOUND");
  });

  it("counts with other writes for the limit of rows, position and revision", async () => {
    const table = await createRowTable(harness, newIdentity(), { maxRows: 20 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        n % 2 === 0 ? writesOf(table, `key ${n}`).insert({ n }) : table.insert({ n }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(20);
    const positions = (await rowsOf(table)).map(({ position }) => position);
    expect(positions).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it("has a key of at most 500 characters", async () => {
    const table = await tableWithEvents();
    await writesOf(table, "k".repeat(500)).insert({});
    for (const key of ["k".repeat(501), "\0"]) {
      const error = await errorOf(writesOf(table, key).insert({}));
      expect(error.violations).toMatchObject([{ path: ["origin", "idempotencyKey"] }]);
    }
  });

  it("is remembered for 24 hours, also while its table is deleted", async () => {
    const table = await tableWithEvents();
    const gone = await tableWithEvents();
    await writesOf(table, "old").insert({});
    await writesOf(table, "new").insert({});
    await writesOf(gone, "old").insert({});
    await deleteRowTable(harness, gone.tableId);
    await harness.database.query(sql.type(z.object({}))`
      update tables.row_write_keys set created_at = now() - interval '25 hours' where key = 'old'
    `);
    await forgetOldKeys(harness.database);
    const keys = await harness.database.anyFirst(sql.type(z.object({ key: z.string() }))`
      select key from tables.row_write_keys where created_at < now() - interval '1 hour'
    `);
    expect(keys).toEqual([]);
    await writesOf(table, "new").insert({});
    expect(await rowsOf(table)).toHaveLength(2);
  });
});
