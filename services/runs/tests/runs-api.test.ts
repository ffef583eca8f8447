import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { ListRunsRequest } from "@workflow/proto/runs/v1/runs";
import type { Identity } from "@workflow/rpc";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  delay,
  expression,
  httpStep,
  listRequest,
  mapping,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;

beforeAll(async () => {
  harness = await startRunsHarness();
  // Never answers: only the caller can end the exchange.
  receiver = await startHttpDouble(() => {});
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

const list = (more: Partial<ListRunsRequest>, identity: Identity = harness.identity) =>
  harness.runs.listRuns(listRequest(more), { identity });

const cancel = (runId: string, identity: Identity = harness.identity) =>
  harness.runs.cancelRun({ runId }, { identity });

/** Every run of a list, read page by page. */
async function readPages(
  more: Partial<ListRunsRequest>,
  limit: number,
  onPage: () => Promise<unknown> = async () => {},
): Promise<Run[]> {
  const all: Run[] = [];
  let cursor = "";
  do {
    const response = await list({ ...more, page: { limit, cursor } });
    expect(response.runs.length).toBeLessThanOrEqual(limit);
    all.push(...response.runs);
    cursor = response.page?.cursor ?? "";
    expect(response.page?.hasMore).toBe(cursor !== "");
    await onPage();
  } while (cursor !== "");
  return all;
}

const idsOf = (runs: readonly Run[]) => runs.map(({ id }) => id);

describe("GetRunStatuses", () => {
  const standOf = (runIds: string[], identity: Identity = harness.identity) =>
    harness.runs.getRunStatuses({ runIds }, { identity });

  it("tells where runs of the company stand, and nothing of other ids", async () => {
    const ended = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    const waitingFor = await harness.deploy([delay("wait", 600_000)]);
    const waiting = await harness.start(waitingFor);
    await harness.waitForRun(waitingFor, RunStatus.SUSPENDED);
    const asked = [ended.id, waiting, newId("run_"), "run_x", "run_'\0"];
    const { runs } = await standOf(asked);
    expect(new Map(runs.map(({ runId, status }) => [runId, status]))).toEqual(
      new Map([
        [ended.id, RunStatus.COMPLETED],
        [waiting, RunStatus.SUSPENDED],
      ]),
    );
    const stranger = testIdentity(newUuid());
    expect(await standOf(asked, stranger)).toEqual({ runs: [] });
    expect(await standOf(["run_x"])).toEqual({ runs: [] });
    await cancel(waiting);
  });

  it.each([0, 1_001])("refuses %i ids", async (count) => {
    const asking = standOf(Array.from({ length: count }, () => newId("run_")));
    await expect(asking).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["run_ids"], message: "must have 1 to 1000 entries" }],
    });
  });
});

describe("GetRun", () => {
  it("shows a run with its step results and documents", async () => {
    const workflowId = await harness.deploy([mapping("a", "{{input.x}}"), mapping("b", 2)]);
    const run = await harness.runToEnd(workflowId, { x: [1] });
    expect(run).toMatchObject({
      workflowId,
      status: RunStatus.COMPLETED,
      inputJson: '{"x":[1]}',
      outputJson: "2",
      error: undefined,
    });
    expect(run.stepResults).toMatchObject([
      { stepId: "a", path: "a", type: "transform", outputJson: "[1]", attempt: 1, reused: false },
      { stepId: "b", path: "b", outputJson: "2" },
    ]);
    const times = [run.createdAt, run.startedAt, run.completedAt].map((time) => Number(time));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it("shows a run as running while its first step is executed", async () => {
    const workflowId = await harness.deploy([httpStep("call", `${receiver.url}/running`)]);
    const runId = await harness.start(workflowId);
    await waitFor(() => receiver.requests.some(({ path }) => path === "/running"));
    expect((await harness.get(runId)).status).toBe(RunStatus.RUNNING);
    await cancel(runId);
  });

  it.each([
    ["unknown", newId("run_")],
    ["malformed", "run_x"],
    ["hostile", "run_' or 1=1\0"],
    ["empty", ""],
  ])("answers NOT_FOUND for an %s id", async (_kind, runId) => {
    await expect(harness.get(runId)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await expect(cancel(runId)).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });
});

describe("another company's run", () => {
  it("is NOT_FOUND, not listed, and stays as it is", async () => {
    const workflowId = await harness.deploy([delay("wait", 60_000)]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    const stranger = testIdentity();
    const reading = harness.runs.getRun({ runId }, { identity: stranger });
    await expect(reading).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await expect(cancel(runId, stranger)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    expect((await list({}, stranger)).runs).toEqual([]);
    expect((await list({ workflowId }, stranger)).runs).toEqual([]);
    expect((await harness.get(runId)).status).toBe(RunStatus.SUSPENDED);
    await cancel(runId);
  });
});

describe("access", () => {
  const calls: [string, string, (options: { identity?: Identity }) => Promise<unknown>][] = [
    [
      "StartRun",
      "workflows:execute",
      (options) => harness.runs.startRun(startRequest(newUuid()), options),
    ],
    ["GetRun", "runs:read", (options) => harness.runs.getRun({ runId: newId("run_") }, options)],
    [
      "ReadRun",
      "runs:read",
      (options) => Array.fromAsync(harness.runs.readRun({ runId: newId("run_") }, options)),
    ],
    [
      "ListRunSteps",
      "runs:read",
      (options) =>
        harness.runs.listRunSteps({ runId: newId("run_"), page: undefined, bytesMax: 0 }, options),
    ],
    [
      "GetRunStep",
      "runs:read",
      (options) =>
        harness.runs.getRunStep({ runId: newId("run_"), path: "a", bytesMax: 0 }, options),
    ],
    ["ListRuns", "runs:read", (options) => harness.runs.listRuns(listRequest(), options)],
    [
      "CancelRun",
      "workflows:execute",
      (options) => harness.runs.cancelRun({ runId: newId("run_") }, options),
    ],
  ];

  it.each(calls)("to %s needs a token with %s", async (_name, scope, call) => {
    await expect(call({})).rejects.toMatchObject({ reason: "UNAUTHORIZED" });
    const others = ["runs:read", "workflows:execute", "workflows:write", "internal:deployments"];
    const without = { ...testIdentity(), scopes: others.filter((other) => other !== scope) };
    await expect(call({ identity: without })).rejects.toMatchObject({ reason: "FORBIDDEN" });
    const outcome = await call({ identity: { ...testIdentity(), scopes: [scope] } }).catch(
      (error: { reason: string }) => error.reason,
    );
    expect(outcome).not.toBe("FORBIDDEN");
  });
});

describe("ListRuns", () => {
  it("pages through more than 100 runs without gap or repeat while new ones arrive", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    const started: string[] = [];
    for (let count = 0; count < 130; count++) started.push(await harness.start(workflowId));
    const all = await readPages({ workflowId }, 20, () => harness.start(workflowId));
    expect(idsOf(all)).toEqual(started.toReversed());
  });

  it("keeps to the default and the longest page", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    await Promise.all(Array.from({ length: 60 }, () => harness.start(workflowId)));
    expect((await list({ workflowId })).runs).toHaveLength(50);
    expect((await list({ workflowId, page: { limit: 100, cursor: "" } })).runs).toHaveLength(60);
    for (const limit of [-1, 101]) {
      await expect(list({ page: { limit, cursor: "" } })).rejects.toMatchObject({
        reason: "BAD_REQUEST",
      });
    }
  });

  it("leaves the documents out", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    await harness.runToEnd(workflowId);
    const [run] = (await list({ workflowId })).runs;
    expect(run).toMatchObject({
      status: RunStatus.COMPLETED,
      inputJson: undefined,
      outputJson: undefined,
      stepResults: [],
      taskRuntimeRunId: undefined,
    });
  });

  it("filters by workflow, status, trigger, tag and time of acceptance", async () => {
    const tagged = await harness.deploy([mapping("a", 1)], { settings: { tags: ["red", "big"] } });
    const failing = await harness.deploy([expression("a", '$error("x")')], {
      settings: { tags: ["red"] },
    });
    const good = await harness.runToEnd(tagged);
    const bad = await harness.runToEnd(failing);
    const { run: byHand } = await harness.runs.startRun(
      { ...startRequest(tagged), triggerType: TriggerType.MANUAL, waitMs: 10_000 },
      { identity: harness.identity },
    );
    const manualId = byHand?.id ?? "";
    const idsWith = async (more: Partial<ListRunsRequest>) => idsOf((await list(more)).runs);

    expect(await idsWith({ workflowId: tagged })).toEqual([manualId, good.id]);
    expect(await idsWith({ workflowId: failing.toUpperCase() })).toEqual([bad.id]);
    expect(await idsWith({ workflowId: newUuid() })).toEqual([]);
    expect(await idsWith({ workflowId: "no-uuid" })).toEqual([]);
    expect(await idsWith({ tag: "red" })).toEqual([manualId, bad.id, good.id]);
    expect(await idsWith({ tag: "big", triggerType: TriggerType.API })).toEqual([good.id]);
    expect(await idsWith({ tag: "bi" })).toEqual([]);
    expect(await idsWith({ tag: "red", statuses: [RunStatus.FAILED] })).toEqual([bad.id]);
    const ended = [RunStatus.FAILED, RunStatus.COMPLETED];
    expect(await idsWith({ tag: "red", statuses: ended })).toHaveLength(3);
    expect(await idsWith({ tag: "red", statuses: [RunStatus.TIMEOUT] })).toEqual([]);
    // From the given moment on, and before the given moment.
    expect(await idsWith({ tag: "red", createdAfter: bad.createdAt })).toEqual([manualId, bad.id]);
    expect(await idsWith({ tag: "red", createdBefore: bad.createdAt })).toEqual([good.id]);
  });

  it.each<[string, Partial<ListRunsRequest>]>([
    ["a status that does not exist", { statuses: [RunStatus.UNRECOGNIZED] }],
    ["no status", { statuses: [RunStatus.UNSPECIFIED] }],
    ["a trigger that does not exist", { triggerType: TriggerType.UNRECOGNIZED }],
    ["a time that no clock shows", { createdAfter: new Date(8.64e15) }],
    ["a time before our era", { createdBefore: new Date(-8.64e15) }],
    ["a tag with NUL", { tag: "\0" }],
    ["a tag that is too long", { tag: "x".repeat(256) }],
  ])("refuses a filter that is %s", async (_kind, more) => {
    await expect(list(more)).rejects.toMatchObject({ reason: "BAD_REQUEST" });
  });

  it("takes a cursor only with the company and the filters that it was made for", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    await Promise.all(Array.from({ length: 3 }, () => harness.start(workflowId)));
    const { page } = await list({ workflowId, page: { limit: 1, cursor: "" } });
    const cursor = page?.cursor ?? "";
    const own = await list({ workflowId, page: { limit: 2, cursor } });
    expect(own.runs).toHaveLength(2);
    const forged = `${cursor.slice(0, -2)}${cursor.endsWith("AA") ? "BB" : "AA"}`;
    const refused = [
      list({ page: { limit: 1, cursor } }),
      list({ workflowId, statuses: [RunStatus.FAILED], page: { limit: 1, cursor } }),
      list({ workflowId, page: { limit: 1, cursor: "nonsense" } }),
      list({ workflowId, page: { limit: 1, cursor: forged } }),
      list({ workflowId, page: { limit: 1, cursor } }, testIdentity()),
    ];
    for (const refusal of refused) {
      await expect(refusal).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    }
  });
});
