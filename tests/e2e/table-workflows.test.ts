import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createActive,
  listRuns,
  runToEnd,
  transform,
  waitForFirstRun,
  waitForRun,
} from "../support/scenarios.ts";
import type { Run } from "../support/scenarios.ts";
import { makeTable, rowSchema, rowsOf } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/** Workflows that are started by changes of rows, and steps that read and write rows. */
let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const COLUMNS = [
  { id: "name", name: "Name", type: "text" },
  { id: "n", name: "N", type: "number" },
];

async function table(rows: readonly object[] = [], fields: object = {}): Promise<string> {
  return (await makeTable(system, system.acme.key, { columns: COLUMNS, rows, fields })).id;
}

async function insert(tableId: string, data: object) {
  const answer = await system.call("POST", `/tables/${tableId}/rows`, { body: { data } });
  expect(answer).toMatchObject({ status: 201, error: undefined });
  return rowSchema.parse(answer.data);
}

const query = async (tableId: string, body: object = {}) =>
  rowsOf(await system.call("POST", `/tables/${tableId}/rows/query`, { body }));

const step = (action: string, config: object, more: object = {}) => ({
  id: action,
  type: "action",
  name: action,
  action: `table.${action}`,
  config,
  ...more,
});

const SHOW = [transform("show", { input: "{{input}}", trigger: "{{trigger}}" })];
const onTable = (tableId: string, more: object = {}) => ({ type: "table", tableId, ...more });

async function waitForRuns(workflowId: string, count: number): Promise<Run[]> {
  const ids = await waitFor(
    async () => {
      const { items } = await listRuns(system, `/workflows/${workflowId}/runs`);
      return items.length >= count ? items.map(({ id }) => id) : null;
    },
    { what: `${count} runs of ${workflowId}` },
  );
  return Promise.all(ids.map((id) => waitForRun(system, id)));
}

describe("a workflow with a table trigger", () => {
  it("runs for each change of a row, with the row as its input", async () => {
    const tableId = await table([], { rowEvents: true });
    const workflowId = await createActive(system, { trigger: onTable(tableId), steps: SHOW });
    const row = await insert(tableId, { name: "Ada", n: 1, extra: { __proto__x: [1] } });
    const path = `/tables/${tableId}/rows/${row.id}`;
    await waitForRuns(workflowId, 1);
    await system.call("PATCH", `${path}?merge=true`, { body: { data: { n: 2 } } });
    await waitForRuns(workflowId, 2);
    await system.call("DELETE", path);
    const runs = await waitForRuns(workflowId, 3);
    const before = { name: "Ada", n: 1, extra: { __proto__x: [1] } };
    const after = { ...before, n: 2 };
    const common = { tableId, rowId: row.id, position: row.position };
    expect(runs.map(({ input }) => input)).toEqual([
      { event: "row_deleted", ...common, data: after },
      { event: "row_updated", ...common, data: after, previousData: before },
      { event: "row_created", ...common, data: before },
    ]);
    expect(runs[2]).toMatchObject({
      triggerType: "table",
      status: "completed",
      output: {
        trigger: {
          type: "table",
          event: "row_created",
          tableId,
          tableName: "Contacts",
          rowId: row.id,
          eventId: expect.stringMatching(/^evt_/),
        },
      },
    });
    const listed = await listRuns(system, `/runs?triggerType=table&workflowId=${workflowId}`);
    expect(listed.items).toHaveLength(3);
    expect(await system.call("GET", "/runs?triggerType=tables")).toMatchObject({ status: 400 });
  });

  it("runs for the events that it names, and for each row of a batch", async () => {
    const tableId = await table([{ name: "old" }], { rowEvents: true });
    const [old] = await query(tableId);
    const trigger = onTable(tableId, { events: ["row_created"] });
    const workflowId = await createActive(system, { trigger, steps: SHOW });
    const body = {
      insert: [{ data: { n: 1 } }, { data: { n: 2 } }],
      update: [{ id: old?.id, data: { name: "new" } }],
    };
    const answer = await system.call("POST", `/tables/${tableId}/rows/batch`, { body });
    expect(answer.error).toBeUndefined();
    await insert(tableId, { n: 3 });
    const runs = await waitForRuns(workflowId, 3);
    const events = z.array(z.looseObject({ event: z.string(), data: z.unknown() }));
    expect(events.parse(runs.map(({ input }) => input)).map(({ event }) => event)).toEqual(
      Array.from({ length: 3 }, () => "row_created"),
    );
  });

  it("does not run while the table tells of nothing, and does once it tells", async () => {
    const tableId = await table();
    const workflowId = await createActive(system, { trigger: onTable(tableId), steps: SHOW });
    await insert(tableId, { name: "silent" });
    const on = await system.call("PATCH", `/tables/${tableId}`, { body: { rowEvents: true } });
    expect(on.error).toBeUndefined();
    await insert(tableId, { name: "told" });
    const [run] = await waitForRuns(workflowId, 1);
    expect(run?.input).toMatchObject({ data: { name: "told" } });
    expect((await listRuns(system, `/workflows/${workflowId}/runs`)).items).toHaveLength(1);
  });

  it("does not run for another company's table", async () => {
    const tableId = await table([], { rowEvents: true });
    const own = await createActive(system, { trigger: onTable(tableId), steps: SHOW });
    const body = { name: "Spy", trigger: onTable(tableId), steps: SHOW };
    const { key } = system.globex;
    const created = await system.call("POST", "/workflows", { key, body });
    const { id } = z.looseObject({ id: z.string() }).parse(created.data);
    await system.call("POST", `/workflows/${id}/activate`, { key });
    await insert(tableId, { name: "Ada" });
    await waitForRuns(own, 1);
    expect((await system.call("GET", `/workflows/${id}/runs`, { key })).data).toEqual([]);
  });

  it("whose inputSchema the event does not fit has a failed run to show", async () => {
    const tableId = await table([], { rowEvents: true });
    const workflowId = await createActive(system, {
      trigger: onTable(tableId),
      steps: SHOW,
      inputSchema: {
        type: "object",
        properties: { data: { type: "object", required: ["name"] } },
      },
    });
    await insert(tableId, { n: 1 });
    const run = await waitForRun(system, await waitForFirstRun(system, workflowId));
    expect(run).toMatchObject({
      status: "failed",
      stepResults: [],
      error: {
        code: "INPUT_INVALID",
        details: { violations: [{ path: ["data", "name"] }] },
      },
    });
  });

  it("that writes to its own table comes to an end", async () => {
    const tableId = await table([], { rowEvents: true });
    const trigger = onTable(tableId, { events: ["row_updated"] });
    const config = { tableId, rowId: "{{input.rowId}}", data: { by: "{{run.id}}" } };
    const workflowId = await createActive(system, { trigger, steps: [step("update", config)] });
    const { id } = await insert(tableId, { by: "a person" });
    await system.call("PATCH", `/tables/${tableId}/rows/${id}`, { body: { data: { by: "me" } } });
    const runs = await waitForRuns(workflowId, 12);
    expect(runs.map(({ status }) => status)).toEqual([
      "failed",
      ...Array.from({ length: 11 }, () => "completed"),
    ]);
    expect(runs[0]).toMatchObject({ error: { code: "TRIGGER_LOOP" }, stepResults: [] });
    expect(await query(tableId)).toMatchObject([{ data: { by: runs[1]?.id } }]);
  });
});

describe("steps on tables", () => {
  it("query, insert, update and delete rows of the company's tables", async () => {
    const tableId = await table([
      { name: "Ada", n: 1 },
      { name: "Bob", n: 5 },
      { name: "Cyd", n: 7 },
    ]);
    const filter = { n: { condition: { operator: "greater_than", value: "{{input.least}}" } } };
    const workflowId = await createActive(system, {
      steps: [
        step("query", { tableId, filter, sort: "n", order: "desc", limit: 1 }),
        step("insert", { tableId, data: { name: "{{steps.query.output.rows[0].data.name}} 2" } }),
        step("update", {
          tableId,
          rowId: "{{steps.insert.output.id}}",
          data: { n: 8 },
          merge: true,
        }),
        step("delete", { tableId, rowId: "{{steps.query.output.rows[0].id}}" }),
        transform("all", {
          found: "{{steps.query.output}}",
          inserted: "{{steps.insert.output}}",
          updated: "{{steps.update.output}}",
          deleted: "{{steps.delete.output}}",
        }),
      ],
    });
    const before = await query(tableId);
    const run = await runToEnd(system, workflowId, { least: 2 });
    expect(run).toMatchObject({ status: "completed", error: null });
    const { inserted } = z.looseObject({ inserted: rowSchema }).parse(run.output);
    expect(run.output).toEqual({
      found: { rows: [before[2]], total: 2, hasMore: true },
      inserted: { ...inserted, data: { name: "Cyd 2" }, position: 3 },
      updated: {
        ...inserted,
        data: { name: "Cyd 2", n: 8 },
        updatedAt: expect.stringMatching(/Z$/),
      },
      deleted: { deleted: true },
    });
    expect((await query(tableId)).map(({ data }) => data)).toEqual([
      { name: "Ada", n: 1 },
      { name: "Bob", n: 5 },
      { name: "Cyd 2", n: 8 },
    ]);
  });

  it.each<[string, string, (tableId: string) => object, string]>([
    ["a table that does not exist", "query", () => ({ tableId: newUuid() }), "TABLE_NOT_FOUND"],
    ["an id of no form", "insert", () => ({ tableId: "orders", data: {} }), "TABLE_NOT_FOUND"],
    [
      "a row that does not exist",
      "update",
      (tableId) => ({ tableId, rowId: newUuid(), data: {} }),
      "ROW_NOT_FOUND",
    ],
    [
      "a row that was deleted",
      "delete",
      (tableId) => ({ tableId, rowId: newUuid() }),
      "ROW_NOT_FOUND",
    ],
    [
      "a filter on an unknown column",
      "query",
      (tableId) => ({ tableId, filter: { nope: { values: [1] } } }),
      "TABLE_REJECTED",
    ],
    [
      "a number that no double holds",
      "insert",
      (tableId) => ({ tableId, data: { n: "{{input.large}}" } }),
      "TABLE_REJECTED",
    ],
  ])("fail for %s", async (_what, action, config, code) => {
    const tableId = await table();
    const steps = [step(action, config(tableId))];
    const run = await runToEnd(system, await createActive(system, { steps }), { large: 2 ** 60 });
    expect(run).toMatchObject({ status: "failed", error: { code, details: { path: action } } });
    expect(await query(tableId)).toEqual([]);
  });

  it("fail when the table is full, and can go on all the same", async () => {
    const tableId = await table([{ name: "Ada" }], { maxRows: 1 });
    const steps = [
      step("insert", { tableId, data: {} }, { onError: "continue" }),
      transform("after", "{{steps.insert.error.code}}"),
    ];
    const run = await runToEnd(system, await createActive(system, { steps }));
    expect(run).toMatchObject({ status: "completed", output: "TABLE_REJECTED" });
    expect(run.stepResults[0]?.error?.message).toBe("Table has reached its maximum row limit of 1");
  });

  it("do not reach another company's tables", async () => {
    const { id } = await makeTable(system, system.globex.key, { rows: [{ name: "secret" }] });
    const steps = [step("query", { tableId: id })];
    const run = await runToEnd(system, await createActive(system, { steps }));
    expect(run.error?.code).toBe("TABLE_NOT_FOUND");
  });

  it("write one row for each item of a loop and each branch, though all at once", async () => {
    const tableId = await table();
    const steps = [
      {
        id: "each",
        type: "parallel",
        name: "each",
        config: {
          forEach: "{{input.list}}",
          concurrency: 20,
          steps: [step("insert", { tableId, data: { n: "{{loop.item}}" } })],
        },
      },
    ];
    const list = Array.from({ length: 60 }, (_, n) => n);
    const run = await runToEnd(system, await createActive(system, { steps }), { list });
    expect(run.status).toBe("completed");
    const rows = await query(tableId, { limit: 100, sort: "n" });
    expect(rows.map(({ data }) => data)).toEqual(list.map((n) => ({ n })));
  });
});
