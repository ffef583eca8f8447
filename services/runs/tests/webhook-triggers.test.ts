import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid, sql } from "@workflow/db";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { StartTriggeredRunsResult, TriggeringEvent } from "@workflow/proto/runs/v1/triggers";
import { z } from "zod";
import {
  listRequest,
  mapping,
  outputOf,
  startRunsHarness,
  testIdentity,
  WEBHOOKS_SERVICE,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const BACKLOG_MAX = 2_000;
/** More than the limit with 99 events. */
const WORKFLOWS_OF_BUSY = 25;

let harness: RunsHarness;

beforeAll(async () => {
  harness = await startRunsHarness({ companyBacklogMax: BACKLOG_MAX });
});
afterAll(() => harness.close());

const SHOW = [mapping("show", { input: "{{input}}", secret: "{{trigger.headers.x}}" })];
const DONE = [mapping("done", 1)];

interface EventParts extends Partial<TriggeringEvent> {
  path?: string;
  provider?: string;
  input?: unknown;
  trigger?: unknown;
}

function event({ path, provider, input = {}, trigger = {}, ...more }: EventParts): TriggeringEvent {
  return {
    companyId: harness.identity.companyId,
    eventId: newId("evt_"),
    source:
      provider === undefined
        ? { $case: "path", value: path ?? "orders" }
        : { $case: "provider", value: provider },
    inputJson: JSON.stringify(input),
    triggerJson: JSON.stringify(trigger),
    requestId: undefined,
    ...more,
  };
}

async function bring(...events: TriggeringEvent[]): Promise<StartTriggeredRunsResult[]> {
  const { results } = await harness.triggers.startTriggeredRuns(
    { events },
    { identity: WEBHOOKS_SERVICE },
  );
  return results;
}

const workflowsOf = (result: StartTriggeredRunsResult | undefined) =>
  result?.runs.map(({ workflowId }) => workflowId).toSorted();

const runsOf = async (workflowId: string): Promise<Run[]> =>
  (await harness.runs.listRuns(listRequest({ workflowId }), harness)).runs;

const onPath = (path: string, more: object = {}) => ({
  trigger: { type: "webhook", path, ...more },
});

describe("an event from outside", () => {
  it("starts a run with its input, its trigger data and the type webhook", async () => {
    const workflowId = await harness.deploy(SHOW, onPath("show"));
    const [result] = await bring(
      event({
        path: "show",
        input: { a: [1] },
        trigger: { headers: { x: "y" } },
        requestId: "r-1",
      }),
    );
    const run = await harness.waitForEnd(result?.runs[0]?.runId ?? "");
    expect(run).toMatchObject({
      workflowId,
      status: RunStatus.COMPLETED,
      triggerType: TriggerType.WEBHOOK,
    });
    expect(outputOf(run)).toEqual({ input: { a: [1] }, secret: "y" });
    const row = sql.type(z.object({ request_id: z.string() }));
    expect(
      await harness.database.any(row`select request_id from runs.runs where id = ${run.id}`),
    ).toEqual([{ request_id: "r-1" }]);
  });

  it("finds workflows by path whatever its case, with period, hyphen and underscore as one", async () => {
    const dotted = await harness.deploy(DONE, onPath("New.Order"));
    const custom = await harness.deploy(DONE, onPath("new_ORDER", { provider: "Custom" }));
    await harness.deploy(DONE, onPath("/new-order"));
    await harness.deploy(DONE, onPath("new order"));
    await harness.deploy(DONE, onPath("new-order", { provider: "acme" }));
    await harness.deploy(DONE, { ...onPath("new-order"), identity: testIdentity() });
    const results = await bring(event({ path: "NEW-order" }), event({ path: "/new-order" }));
    expect(results.map(workflowsOf)).toEqual([[dotted, custom].toSorted(), []]);
    expect(results[1]?.failure).toBeUndefined();
  });

  it("finds workflows by provider whatever its case, and never by their path", async () => {
    const workflowId = await harness.deploy(DONE, onPath("/any", { provider: "HubSpot" }));
    const results = await bring(event({ provider: "hubspot" }), event({ path: "hubspot" }));
    expect(results.map(workflowsOf)).toEqual([[workflowId], []]);
  });

  it("starts its runs once, however many bring it at the same time", async () => {
    const workflows = await Promise.all([1, 2, 3].map(() => harness.deploy(DONE, onPath("once"))));
    const same = event({ path: "once" });
    const answers = await Promise.all(Array.from({ length: 8 }, () => bring(same, same)));
    const all = answers.flat();
    expect(workflowsOf(all[0])).toEqual(workflows.toSorted());
    expect(all).toEqual(all.map(() => all[0]));
    for (const workflowId of workflows) expect(await runsOf(workflowId)).toHaveLength(1);
  });

  it("is answered like the first time when its workflow is not there any more, or another one is", async () => {
    const workflowId = await harness.deploy(DONE, onPath("later"));
    const same = event({ path: "later" });
    const first = await bring(same);
    await harness.deploy(DONE, { ...onPath("elsewhere"), workflowId, revision: 2 });
    expect(await bring(same)).toEqual(first);
    await harness.deploy(DONE, onPath("later"));
    expect(await bring(same)).toEqual(first);
  });

  it.each<[unknown, unknown]>([
    [[1, { a: 2 }], { all: [1, { a: 2 }], first: 1 }],
    ["text", { all: "text", first: null }],
    [0, { all: 0, first: null }],
    [false, { all: false, first: null }],
    [null, { all: null, first: null }],
  ])("gives its runs the input %j as it is", async (input, expected) => {
    const path = JSON.stringify(input);
    const steps = [mapping("show", { all: "{{input}}", first: "{{input[0]}}" })];
    await harness.deploy(steps, onPath(path));
    const [result] = await bring(event({ path, input }));
    const run = await harness.waitForEnd(result?.runs[0]?.runId ?? "");
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, inputJson: JSON.stringify(input) });
    expect(outputOf(run)).toEqual(expected);
    const restart = { runId: run.id, fromStepId: "show", overrideInputJson: undefined };
    const restarted = await harness.runs.restartRun(restart, harness);
    const again = await harness.waitForEnd(restarted.run?.id ?? "");
    expect(outputOf(again)).toEqual(expected);
    const changed = harness.runs.restartRun({ ...restart, overrideInputJson: "{}" }, harness);
    await expect(changed).rejects.toMatchObject({ reason: "BAD_REQUEST" });
  });

  it("fails its run visibly when its input does not fit the inputSchema", async () => {
    const inputSchema = { type: "object", required: ["id"] };
    await harness.deploy(DONE, { ...onPath("strict"), inputSchema });
    const results = await bring(...[{}, [], null].map((input) => event({ path: "strict", input })));
    for (const { runs } of results) {
      const run = await harness.waitForEnd(runs[0]?.runId ?? "");
      expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "INPUT_INVALID" } });
    }
  });
});

describe("several events in one call", () => {
  it.each<[string, EventParts]>([
    ["company_id", { companyId: "x" }],
    ["event_id", { eventId: "run_1" }],
    ["source", { source: undefined }],
    ["path", { path: "a\0b" }],
    ["input_json", { inputJson: "[1" }],
    ["input_json", { inputJson: String.raw`{"a":"\u0000"}` }],
    ["input_json", { inputJson: `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}` }],
    ["input_json", { inputJson: JSON.stringify({ a: "x".repeat(1024 * 1024) }) }],
    ["trigger_json", { triggerJson: "{" }],
    ["trigger_json", { triggerJson: JSON.stringify({ a: "x".repeat(256 * 1024) }) }],
  ])("one with a bad %s is refused alone", async (field, parts) => {
    const path = newUuid();
    const workflowId = await harness.deploy(DONE, onPath(path));
    const results = await bring(event({ path }), event({ path, ...parts }), event({ path }));
    expect(results.map(workflowsOf)).toEqual([[workflowId], [], [workflowId]]);
    expect(results[1]?.failure).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: [field] }],
    });
  });

  it("one company's full backlog refuses its events alone, and not those that have started", async () => {
    const full = testIdentity();
    const busy = await harness.deploy(DONE, onPath("busy"));
    for (let n = 0; n < WORKFLOWS_OF_BUSY; n += 1) {
      await harness.deploy(DONE, { ...onPath("busy"), identity: full });
    }
    const flood = Array.from({ length: 99 }, () =>
      event({ path: "busy", companyId: full.companyId }),
    );
    const results = await bring(...flood, event({ path: "busy" }));
    const refused = results.filter(({ failure }) => failure !== undefined);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ failure }) => failure?.reason))).toEqual(
      new Set(["RATE_LIMITED"]),
    );
    // All of an event's runs or none.
    expect(
      results
        .slice(0, 99)
        .every(({ runs }) => runs.length === WORKFLOWS_OF_BUSY || runs.length === 0),
    ).toBe(true);
    expect(workflowsOf(results[99])).toEqual([busy]);
  });

  it("of another company get their turn before all of a flood", async () => {
    const path = newUuid();
    const [greedy, other] = [testIdentity(), testIdentity()];
    for (const identity of [greedy, other]) {
      await harness.deploy(DONE, { ...onPath(path), identity });
    }
    const { companyId } = greedy;
    const flood = Array.from({ length: 15 }, () =>
      bring(...Array.from({ length: 100 }, () => event({ path, companyId }))),
    );
    const [theirs] = await bring(event({ path, companyId: other.companyId }));
    const runIds = (await Promise.all(flood)).flat().flatMap(({ runs }) => runs[0]?.runId ?? []);
    expect(runIds).toHaveLength(1_500);
    const before = runIds.filter((runId) => runId < (theirs?.runs[0]?.runId ?? ""));
    // Ids sort by the time of making.
    expect(before.length).toBeLessThan(1_400);
  });

  it("one that the database refuses does not keep the others from starting", async () => {
    const path = newUuid();
    const workflowId = await harness.deploy(DONE, onPath(path));
    const poison = event({ path });
    await harness.database.query(sql.type(z.object({}))`
      alter table runs.triggering_events
        add constraint poison check (event_id <> ${sql.literalValue(poison.eventId)}) not valid
    `);
    const results = await bring(event({ path }), poison, event({ path }));
    expect(results.map(workflowsOf)).toEqual([[workflowId], [], [workflowId]]);
    expect(results[1]?.failure?.reason).toBe("INTERNAL_ERROR");
    expect(await runsOf(workflowId)).toHaveLength(2);
  });

  it("are at least one and at most a hundred", async () => {
    await expect(bring()).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    const tooMany = Array.from({ length: 101 }, () => event({}));
    await expect(bring(...tooMany)).rejects.toMatchObject({ reason: "BAD_REQUEST" });
  });

  it("are taken from no caller and from no other service", async () => {
    const request = { events: [event({})] };
    const calls = [
      [harness.triggers, { ...WEBHOOKS_SERVICE, scopes: [] }, "FORBIDDEN"],
      [harness.foreignTriggers, WEBHOOKS_SERVICE, "UNAUTHORIZED"],
    ] as const;
    for (const [client, identity, reason] of calls) {
      const call = client.startTriggeredRuns(request, { identity });
      await expect(call).rejects.toMatchObject({ reason });
    }
  });
});
