import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import {
  DeleteRowRequest,
  InsertRowRequest,
  UpdateRowRequest,
} from "@workflow/proto/tables/v1/rows";
import { DeleteTableRequest } from "@workflow/proto/tables/v1/tables";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { createRowTable } from "./support/row-table.ts";
import type { RowTable } from "./support/row-table.ts";
import { column, countRecords, importMessages, newTable } from "./support/table-requests.ts";

const TABLE_MAX = 8_000;
const COMPANY_MAX = 10_000;
const details = { limit: "companyTableBytes", max: COMPANY_MAX };
/** Half of the harness's pool: what one company has in flight in a process. */
const IN_FLIGHT = 5;

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ tableBytesMax: TABLE_MAX, companyTableBytesMax: COMPANY_MAX });
});
afterAll(() => harness.close());

/** A row whose JSON has so many bytes. */
const rowOf = (bytes: number) => ({ name: "x".repeat(bytes - '{"name":""}'.length) });

/** What the rows of a company's tables really have together. */
function bytesOf({ companyId }: RowTable["identity"]): Promise<number> {
  return harness.database.oneFirst(sql.type(z.object({ bytes: z.number() }))`
    select coalesce(sum(octet_length(r.data::text)), 0)::bigint as bytes
    from tables.rows as r
    join tables.table_states as state on state.table_key = r.table_key
    where state.company_id = ${companyId}
  `);
}

function update({ tableId, identity }: RowTable, rowId: string, data: object, merge = false) {
  const dataJson = JSON.stringify(data);
  const request = UpdateRowRequest.fromPartial({ tableId, rowId, dataJson, merge });
  return harness.rows.updateRow(request, { identity });
}

describe.each([false, true])("the bytes of a company's rows, row events %s", (rowEvents) => {
  const makeTables = async () => {
    const identity = newIdentity();
    const [full, other] = [
      await createRowTable(harness, identity, { rowEvents }),
      await createRowTable(harness, identity, { rowEvents }),
    ];
    return { identity, full, other };
  };

  it("reach the limit exactly over two tables; other companies go on", async () => {
    const { identity, full, other } = await makeTables();
    await full.insert(rowOf(7_000));
    const error = await errorOf(other.insert(rowOf(3_001)));
    expect(error.reason).toBe("BAD_REQUEST");
    expect(error.message).toBe(
      "The rows of the company's tables would have more than 10000 bytes of JSON together",
    );
    expect(error.details).toEqual(details);
    await other.insert(rowOf(3_000));
    expect(await bytesOf(identity)).toBe(COMPANY_MAX);
    expect((await errorOf(full.insert({}))).details).toEqual(details);
    const stranger = await createRowTable(harness, newIdentity(), { rowEvents });
    await stranger.insert(rowOf(7_000));
  });

  it("are kept by batches, merges, replacements and the writes of steps", async () => {
    const { identity, full, other } = await makeTables();
    await full.insert(rowOf(7_000));
    const rowId = await other.insert(rowOf(2_000));
    const refusals = [
      update(other, rowId, rowOf(3_001)),
      update(other, rowId, { more: "x".repeat(1_100) }, true),
      other.insertAll([rowOf(500), rowOf(501)]),
      harness.rows.insertRow(
        InsertRowRequest.fromPartial({
          tableId: other.tableId,
          dataJson: JSON.stringify(rowOf(1_001)),
          origin: { runId: "run_1", idempotencyKey: "step" },
        }),
        { identity },
      ),
    ];
    for (const refusal of refusals) expect((await errorOf(refusal)).details).toEqual(details);
    expect(await bytesOf(identity)).toBe(9_000);
    await update(other, rowId, rowOf(3_000));
    expect(await bytesOf(identity)).toBe(COMPANY_MAX);
  });

  it("may be read, shrunk and deleted at the limit and beyond it, and room comes free at once", async () => {
    const { identity, full, other } = await makeTables();
    const rowId = await full.insert(rowOf(7_000));
    await other.insert(rowOf(3_000));
    // As a process of before the limit does, which knows nothing of it.
    await harness.database.query(sql.type(z.object({}))`
      update tables.rows set data = ${JSON.stringify(rowOf(7_500))} where id = ${rowId}
    `);
    expect((await errorOf(other.insert({}))).details).toEqual(details);
    expect((await errorOf(update(full, rowId, rowOf(7_501)))).details).toEqual(details);
    expect((await full.query({ show: "name" })).total).toBe(1);
    await update(full, rowId, rowOf(7_400));
    await update(full, rowId, rowOf(6_000));
    await other.insert(rowOf(1_000));
    const { tableId } = full;
    await harness.rows.deleteRow(DeleteRowRequest.fromPartial({ tableId, rowId }), { identity });
    await full.insert(rowOf(6_000));
    await harness.tables.deleteTable(DeleteTableRequest.fromPartial({ tableId }), { identity });
    await other.insert(rowOf(4_000));
    expect(await bytesOf(identity)).toBe(8_000);
  });

  it("go beyond the limit by no more than what is in flight when many tables are written at once", async () => {
    const { identity, full, other } = await makeTables();
    await full.insertAll([rowOf(4_000), rowOf(4_000)]);
    const tables = await Promise.all(
      Array.from({ length: 8 }, () => createRowTable(harness, identity, { rowEvents })),
    );
    const writes = tables.flatMap((table) =>
      Array.from({ length: 4 }, () => table.insert(rowOf(500))),
    );
    const outcomes = await Promise.allSettled(writes);
    const stored = outcomes.filter(({ status }) => status === "fulfilled").length;
    // Each of the writes in flight may take the room that was left.
    expect(stored * 500).toBeGreaterThanOrEqual(COMPANY_MAX - 8_000);
    expect(stored * 500).toBeLessThanOrEqual(IN_FLIGHT * (COMPANY_MAX - 8_000));
    expect(await bytesOf(identity)).toBe(8_000 + stored * 500);
    expect((await errorOf(other.insert({}))).details).toEqual(details);
  });
});

describe("imports", () => {
  it("of one company at once do not go beyond the limit, and leave nothing when they are refused", async () => {
    const identity = newIdentity();
    const table = newTable({ columns: { columns: [column("name")] } });
    const send = () =>
      harness.tables.importTable(importMessages(table, [rowOf(2_000), rowOf(1_000)]), { identity });
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, send));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(await bytesOf(identity)).toBe(9_000);
    const before = await countRecords(harness.database);
    expect((await errorOf(send())).details).toEqual(details);
    expect(await countRecords(harness.database)).toEqual(before);
  });
});
