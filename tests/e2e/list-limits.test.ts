import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { createWorkflow } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const MIB = 1024 * 1024;
const identified = z.object({ id: z.string() });
const nothing = sql.type(z.object({}));

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

/** Sends requests at once; every one that is refused names the limit. Returns those that were not. */
async function expectRoomFor(
  room: number,
  refusal: { limit: string; max: number },
  requests: readonly (() => Promise<Answer>)[],
): Promise<readonly string[]> {
  const answers = await Promise.all(requests.map((send) => send()));
  const made = answers.filter(({ status }) => status < 300);
  for (const answer of answers.filter(({ status }) => status >= 300)) {
    expect(answer).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: refusal },
    });
  }
  expect(made).toHaveLength(room);
  return made.map(({ data }) => identified.parse(data).id);
}

const times = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe("a workflow", () => {
  it("has at most 1,000 secrets, however many are made at once", async () => {
    const [{ id: workflowId }, other] = [
      await createWorkflow(system),
      await createWorkflow(system),
    ];
    const create = (key: string, workflow = workflowId) =>
      system.call("POST", `/workflows/${workflow}/secrets`, { body: { key, value: "a value" } });
    expect(await create("FIRST")).toMatchObject({ status: 200 });
    await system.database.query(nothing`
      insert into integrations.secrets
        (id, company_id, workflow_id, key, company_key_id, sealed_value, masked_value)
      select gen_random_uuid(), company_id, workflow_id, 'COPY_' || n, company_key_id, sealed_value,
        masked_value
      from integrations.secrets, generate_series(1, 995) as n
      where workflow_id = ${workflowId}
    `);
    const requests = times(10, (n) => () => create(`LATE_${n}`));
    await expectRoomFor(4, { limit: "secrets", max: 1_000 }, requests);
    expect(await create("FIRST", other.id)).toMatchObject({ status: 200 });
    await system.call("DELETE", `/workflows/${workflowId}/secrets/FIRST`);
    expect(await create("FREED")).toMatchObject({ status: 200 });
  });
});

describe("a company", () => {
  it("has at most 1,000 tables, made or imported, however many come at once", async () => {
    const { key, id: companyId } = system.acme;
    await storeTables(companyId, 996, 0);
    const create = () => system.call("POST", "/tables", { key, body: { name: "Late" } });
    const bring = () =>
      system.call("POST", "/tables/import", {
        key,
        body: { name: "Late", columns: [], rows: [{ n: 1 }] },
      });
    const requests = [...times(5, () => create), ...times(3, () => bring)];
    const [first = ""] = await expectRoomFor(4, { limit: "dataTables", max: 1_000 }, requests);
    expect((await system.call("GET", "/tables", { key })).data).toHaveLength(1_000);
    await system.call("DELETE", `/tables/${first}`, { key });
    expect(await create()).toMatchObject({ status: 201 });
  });

  it("has tables that say 16 MiB of themselves together, and can make them shorter", async () => {
    const { key, id: companyId } = system.globex;
    await storeTables(companyId, 31, MIB / 2);
    const metadata = { text: "x".repeat(200_000) };
    const refusal = { limit: "dataTableBytes", max: 16 * MIB };
    const create = () => system.call("POST", "/tables", { key, body: { name: "Late", metadata } });
    const [id = ""] = await expectRoomFor(2, refusal, [create, create, create, create]);
    const change = (body: object) => system.call("PATCH", `/tables/${id}`, { key, body });
    await expectRoomFor(0, refusal, [
      () => change({ metadata: { text: "x".repeat(400_000) } }),
      () =>
        change({
          columns: times(2_000, (n) => ({ name: `${n}-${"x".repeat(99)}`, type: "text" })),
        }),
    ]);
    expect(await change({ name: "Renamed", metadata: {} })).toMatchObject({ status: 200 });
    expect(await create()).toMatchObject({ status: 201 });
  });

  it("has any number of folders, as long as their list can be sent", async () => {
    const { key, id: companyId } = system.globex;
    const long = "\u{1F4C1}".repeat(250);
    const rowBytes = Buffer.byteLength(long) + 5 + 100;
    const stored = Math.floor((16 * MIB) / rowBytes) - 2;
    await system.database.query(nothing`
      insert into tables.folders (id, company_id, name)
      select gen_random_uuid(), ${companyId}, ${long} || n
      from generate_series(10001, ${10_000 + stored}::integer) as n
    `);
    const requests = times(6, (n) => () => {
      const body = { name: `${long}${90_000 + n}` };
      return system.call("POST", "/table-folders", { key, body });
    });
    await expectRoomFor(2, { limit: "tableFolderBytes", max: 16 * MIB }, requests);
    const answer = await system.call("GET", "/table-folders", { key });
    expect(answer.data).toHaveLength(stored + 2);
  });
});

describe("a data table", () => {
  it("has at most 256 MiB of rows, and may shrink when it is full", async () => {
    const { key } = system.globex;
    const columns = [{ id: "a", name: "a", type: "text" }];
    const table = await system.call("POST", "/tables", { key, body: { name: "Full", columns } });
    const { id: tableId } = identified.parse(table.data);
    const rows = `/tables/${tableId}/rows`;
    const add = (bytes: number) =>
      system.call("POST", rows, { key, body: { data: { a: "x".repeat(bytes) } } });
    const { id: rowId } = identified.parse((await add(2_000)).data);
    const max = 256 * MIB;
    await system.database.query(nothing`
      update tables.table_states as state set row_bytes = ${max - 3_000}
      from tables.tables as named
      where named.key = state.table_key and named.id = ${tableId}
    `);
    const refusal = { limit: "tableBytes", max };
    await expectRoomFor(
      2,
      refusal,
      times(6, () => () => add(1_400)),
    );
    const change = (row: string, bytes: number) =>
      system.call("PATCH", `${rows}/${row}`, { key, body: { data: { a: "x".repeat(bytes) } } });
    await expectRoomFor(0, refusal, [
      () => change(rowId, 3_000),
      () =>
        system.call("POST", `${rows}/batch`, {
          key,
          body: { insert: [{ data: { a: "x".repeat(900) } }] },
        }),
    ]);
    expect(await change(newUuid(), 3_000)).toMatchObject({ status: 404 });
    expect(await change(rowId, 10)).toMatchObject({ status: 200 });
    expect(await add(1_400)).toMatchObject({ status: 201 });
  });

  it("shares 10 GiB with the company's others: what goes beyond is refused, and its rows can be read", async () => {
    const { key } = system.globex;
    const create = async (name: string): Promise<string> => {
      const columns = [{ id: "a", name: "a", type: "text" }];
      const table = await system.call("POST", "/tables", { key, body: { name, columns } });
      return identified.parse(table.data).id;
    };
    const [large, small] = [await create("Large"), await create("Small")];
    const add = (bytes: number) =>
      system.call("POST", `/tables/${small}/rows`, {
        key,
        body: { data: { a: "x".repeat(bytes) } },
      });
    const { id: rowId } = identified.parse((await add(2_000)).data);
    const max = 10 * 1024 * MIB;
    await system.database.query(nothing`
      update tables.table_states as state
      set row_bytes = ${max - 3_000}::bigint - (
        select sum(other.row_bytes)
        from tables.table_states as other
        where other.company_id = state.company_id and other.table_key <> state.table_key
      )
      from tables.tables as named
      where named.key = state.table_key and named.id = ${large}
    `);
    const refusal = { limit: "companyTableBytes", max };
    await expectRoomFor(
      2,
      refusal,
      times(6, () => () => add(1_400)),
    );
    const body = { name: "Imported", columns: [], rows: [{ a: "x".repeat(1_400) }] };
    const insert = [{ data: { a: "x".repeat(1_400) } }];
    await expectRoomFor(0, refusal, [
      () => system.call("POST", "/tables/import", { key, body }),
      () => system.call("POST", `/tables/${small}/rows/batch`, { key, body: { insert } }),
    ]);
    expect(await system.call("GET", `/tables/${small}/rows/${rowId}`, { key })).toMatchObject({
      status: 200,
    });
    await system.call("DELETE", `/tables/${large}`, { key });
    expect(await add(1_400)).toMatchObject({ status: 201 });
  });
});

/** Tables without rows, each with so many bytes of metadata. */
async function storeTables(companyId: string, count: number, bytes: number): Promise<void> {
  const metadata = JSON.stringify({ text: "x".repeat(bytes) });
  const ids = times(count, () => newUuid());
  await system.database.query(nothing`
    with made as (
      insert into tables.tables (id, company_id, name, schema, metadata)
      select id, ${companyId}, 'Stored', '{}', ${metadata}::json
      from unnest(${sql.array(ids, "uuid")}) as id
      returning key, company_id
    )
    insert into tables.table_states (table_key, company_id, max_rows)
    select key, company_id, 10 from made
  `);
}
