import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Reason } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { RowsServiceService, SortOrder } from "@workflow/proto/tables/v1/rows";
import type { QueryRowsResponse, Row } from "@workflow/proto/tables/v1/rows";
import { createRpcServer, createTokenVerifier, LARGE_MESSAGE_BYTES_MAX, rpc } from "@workflow/rpc";
import type { RpcContext, RpcServer } from "@workflow/rpc";
import { createTestTokens, waitFor } from "@workflow/testkit";
import { pino } from "pino";
import { createTablesClient } from "../src/service.ts";
import type { TablesClient } from "../src/service.ts";
import { outputOf, resultsOf, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

/** What the double of the tables service was asked. */
interface Call {
  request: object;
  context: RpcContext;
}
let calls: Call[] = [];
/** What it does before it answers: nothing, unless a test wants it to refuse or to wait. */
let before: (call: Call) => unknown = () => {};
/** What it answers to queries; to writes it answers `row`. */
let page: QueryRowsResponse;
let server: RpcServer;
let client: TablesClient;
let harness: RunsHarness;

const tableId = newUuid();
const rowId = newUuid();
const row: Row = {
  id: rowId,
  dataJson: `{"name":"Ada","__proto__":[1]}`,
  position: 3,
  createdAt: new Date("2026-01-02T03:04:05.006Z"),
  updatedAt: new Date("2026-01-02T03:04:06.007Z"),
};
const shownRow = {
  id: rowId,
  data: JSON.parse(row.dataJson) as unknown,
  position: 3,
  createdAt: "2026-01-02T03:04:05.006Z",
  updatedAt: "2026-01-02T03:04:06.007Z",
};

beforeAll(async () => {
  const tokens = createTestTokens();
  server = createRpcServer({
    logger: pino({ level: "silent" }),
    verifier: createTokenVerifier({
      audience: "tables",
      publicKeys: tokens.publicKeys,
      revoked: { has: async () => false },
    }),
    maxMessageBytes: LARGE_MESSAGE_BYTES_MAX,
  });
  const answering = <Request extends object, Answer>(scope: string, answer: () => Answer) =>
    rpc<Request, Answer>({
      scopes: scope,
      async handler(request, context) {
        calls.push({ request, context });
        await before({ request, context });
        return answer();
      },
    });
  const unused = <Request extends object, Answer>() =>
    answering<Request, Answer>("workflows:read", () => {
      throw new Error("not expected");
    });
  server.add(RowsServiceService, {
    queryRows: answering("workflows:read", () => page),
    insertRow: answering("workflows:write", () => row),
    updateRow: answering("workflows:write", () => row),
    deleteRow: answering("workflows:write", () => ({})),
    listDistinctValues: unused(),
    aggregateRows: unused(),
    getRow: unused(),
    insertRows: unused(),
    batchRows: unused(),
  });
  const { address } = await server.listen("127.0.0.1:0");
  const tokenSigner = tokens.signerOf("runs");
  client = createTablesClient({ address, tokenSigner });
  const resolve = () =>
    Promise.resolve(new Map([["TOKEN", { value: "s3cr3t-token", allowedHosts: null }]]));
  harness = await startRunsHarness({ tables: client, secrets: { resolve, close() {} } });
});
beforeEach(() => {
  calls = [];
  before = () => {};
  page = { rows: [row], total: 9, limit: 2, offset: 4, hasMore: true };
});
afterAll(async () => {
  await harness.close();
  client.close();
  await server.close();
});

const action = (name: string, config: object, more: object = {}) => ({
  id: "act",
  type: "action",
  name: "act",
  action: `table.${name}`,
  config: { tableId, ...config },
  ...more,
});

const differentRequests = (): number =>
  new Set(calls.map(({ request }) => JSON.stringify(request))).size;

async function runAction(name: string, config: object, input: object = {}) {
  return harness.runToEnd(await harness.deploy([action(name, config)]), input);
}

describe("an action on a table", () => {
  it("query finds rows, with every input given by a template", async () => {
    const filter = { name: { condition: { operator: "equals", value: "{{input.name}}" } } };
    const run = await runAction(
      "query",
      {
        tableId: "{{input.table}}",
        filter,
        sort: "{{input.sort}}",
        order: "desc",
        limit: "{{input.limit}}",
        offset: 4,
      },
      { table: tableId, name: "Ada", sort: "name", limit: 2 },
    );
    expect(outputOf(run)).toEqual({ rows: [shownRow], total: 9, hasMore: true });
    expect(run.outputJson).toContain(`"__proto__":[1]`);
    expect(calls[0]?.request).toMatchObject({
      tableId,
      filterJson: JSON.stringify({ name: { condition: { operator: "equals", value: "Ada" } } }),
      sort: "name",
      order: SortOrder.DESC,
      limit: 2,
      offset: 4,
      legacyFilter: false,
    });
  });

  it("query leaves to the service what is not given, or null", async () => {
    const run = await runAction("query", { limit: "{{input.none}}", sort: "{{input.none}}" });
    expect(run.status).toBe(RunStatus.COMPLETED);
    const nothing = { filterJson: "", sort: "", offset: 0, limit: undefined };
    expect(calls[0]?.request).toMatchObject(nothing);
  });

  it("insert, update and delete write in the name of the run, each under a key of its own", async () => {
    const data = { name: "{{input.name}}", "{{key}}": 1 };
    const inserted = await runAction("insert", { data }, { name: "Ada" });
    const updated = await runAction("update", { rowId, data: { a: 1 }, merge: true });
    const deleted = await runAction("delete", { rowId });
    expect([inserted, updated, deleted].map(outputOf)).toEqual([
      shownRow,
      shownRow,
      { deleted: true },
    ]);
    expect(calls.map(({ request }) => request)).toMatchObject([
      { tableId, dataJson: `{"name":"Ada","{{key}}":1}` },
      { tableId, rowId, dataJson: `{"a":1}`, merge: true },
      { tableId, rowId },
    ]);
    for (const [index, run] of [inserted, updated, deleted].entries()) {
      const { request, context } = calls[index] ?? {};
      const origin = { runId: run.id, idempotencyKey: `${run.id}:act:1` };
      expect(request).toMatchObject({ origin });
      expect(context?.identity).toMatchObject({
        companyId: harness.identity.companyId,
        principal: { type: "service", id: "runs" },
      });
    }
  });

  it.each<[string, object]>([
    ["insert", { data: "{{input.text}}" }],
    ["insert", { tableId: "{{input.none}}", data: {} }],
    ["update", { rowId: "{{input.none}}", data: {} }],
    ["update", { rowId, data: {}, merge: "{{input.text}}" }],
    ["query", { limit: "{{input.number}}" }],
    ["query", { filter: "{{input.list}}" }],
    ["query", { order: "{{input.text}}" }],
  ])("%s fails with INVALID_INPUT for %j", async (name, config) => {
    const input = { text: "x", number: 101, list: [1] };
    const run = await runAction(name, config, input);
    expect(resultsOf(run)).toMatchObject([{ status: "error", error: "INVALID_INPUT" }]);
    expect(calls).toEqual([]);
  });

  it.each<[string, Reason, string]>([
    ["query", "NOT_FOUND", "TABLE_NOT_FOUND"],
    ["insert", "NOT_FOUND", "TABLE_NOT_FOUND"],
    ["update", "NOT_FOUND", "ROW_NOT_FOUND"],
    ["delete", "NOT_FOUND", "ROW_NOT_FOUND"],
    ["insert", "BAD_REQUEST", "TABLE_REJECTED"],
    ["insert", "PAYLOAD_TOO_LARGE", "TABLE_REJECTED"],
  ])(
    "%s that is answered with %s fails with %s, and is not retried",
    async (name, reason, code) => {
      const violations = [{ path: ["data", "n"], message: "is too large" }];
      before = () => {
        throw new AppError(reason, "No.", { violations });
      };
      const config = { rowId, data: {} };
      const retry = { maxAttempts: 3, backoff: "fixed", delayMs: 1 };
      const run = await harness.runToEnd(await harness.deploy([action(name, config, { retry })]));
      expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code } });
      expect(run.error?.message).toBe("No.");
      if (code === "TABLE_REJECTED") {
        expect(JSON.parse(run.error?.detailsJson ?? "")).toMatchObject({ problems: violations });
      }
      expect(calls).toHaveLength(1);
    },
  );

  it("waits for a service that is away for a moment, and writes under the same key", async () => {
    before = () => {
      if (calls.length < 3) throw new AppError("UNAVAILABLE", "Away.");
    };
    const run = await runAction("insert", { data: {} });
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(calls).toHaveLength(3);
    expect(differentRequests()).toBe(1);
    expect(resultsOf(run)).toMatchObject([{ attempt: 1 }]);
  });

  it("is a failure that can be retried while the service stays away, under the same key", async () => {
    before = () => {
      if (calls.length <= 5) throw new AppError("UNAVAILABLE", "Away.");
    };
    const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1 };
    const workflowId = await harness.deploy([action("insert", { data: {} }, { retry })]);
    const run = await harness.runToEnd(workflowId);
    expect(resultsOf(run)).toMatchObject([{ status: "success", attempt: 2 }]);
    expect(run.stepResults[0]?.previousAttempts).toMatchObject([
      { error: { code: "TABLE_UNAVAILABLE" } },
    ]);
    expect(differentRequests()).toBe(1);
  });

  it("is given up when the run is cancelled", async () => {
    const ended = Promise.withResolvers<string>();
    before = ({ context: { signal } }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => ended.resolve("aborted"), { once: true });
      });
    const runId = await harness.start(await harness.deploy([action("query", {})]));
    await waitFor(() => (calls.length > 0 ? true : null), { what: "the call" });
    await harness.runs.cancelRun({ runId }, harness);
    expect(await ended.promise).toBe("aborted");
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.CANCELLED);
  });

  it("ends when the step's time is over", async () => {
    before = () => new Promise(() => {});
    const workflowId = await harness.deploy([action("query", {}, { timeoutMs: 100 })]);
    const run = await harness.runToEnd(workflowId);
    expect(run.error?.code).toBe("TIMEOUT");
  });

  it("takes no secret into a row, and keeps it out of the record of what failed", async () => {
    const stored = await runAction("insert", { data: { token: "Bearer {{secrets.TOKEN}}" } });
    expect(stored.status).toBe(RunStatus.COMPLETED);
    expect(calls[0]?.request).toMatchObject({ dataJson: `{"token":"Bearer ••••"}` });
    before = ({ request }) => {
      throw new AppError("BAD_REQUEST", `bad: ${JSON.stringify(request).toUpperCase()}`);
    };
    const condition = { operator: "equals", value: "{{secrets.TOKEN}}" };
    const refused = await runAction("query", { filter: { a: { condition } } });
    expect(JSON.stringify(calls[1]?.request)).toContain("s3cr3t-token");
    expect(refused.error?.code).toBe("TABLE_REJECTED");
    expect(JSON.stringify(refused)).not.toMatch(/s3cr3t/i);
  });

  it("query fails with OUTPUT_TOO_LARGE above 4 MiB", async () => {
    const dataJson = JSON.stringify({ text: "x".repeat(1024 * 1024) });
    page = { ...page, rows: Array.from({ length: 5 }, () => ({ ...row, dataJson })) };
    expect((await runAction("query", {})).error?.code).toBe("OUTPUT_TOO_LARGE");
  });

  it("query fails with OUTPUT_TOO_LARGE for the largest of pages as well", async () => {
    const dataJson = JSON.stringify({ text: "x".repeat(1_000_000) });
    page = { ...page, rows: Array.from({ length: 70 }, () => ({ ...row, dataJson })) };
    expect((await runAction("query", {})).error?.code).toBe("OUTPUT_TOO_LARGE");
  });

  it("says so where no service keeps tables", async () => {
    const bare = await startRunsHarness();
    const run = await bare.runToEnd(await bare.deploy([action("insert", { data: {} })]));
    expect(run.error?.code).toBe("NOT_CONFIGURED");
    await bare.close();
  });
});
