import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  createActive,
  createWorkflow,
  delay,
  failing,
  getRun,
  listRuns,
  runListItemSchema,
  runLogsSchema,
  runToEnd,
  startRun,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const TOTAL = 7;

let system: WholeSystem;
/** Never answers. */
let outside: HttpDouble;
let quickId: string;
/** Runs of `quickId`, newest first. */
let quickRuns: string[];
/** A run in each status that is there to stay without an approval. */
const STATUSES = ["completed", "failed", "suspended", "cancelled", "timeout", "running"] as const;
let runs: Record<(typeof STATUSES)[number], string>;

beforeAll(async () => {
  outside = await startHttpDouble(() => undefined);
  system = await startWholeSystem();
  quickId = await createActive(system, {
    steps: [transform("one", { n: "{{input.n}}" }), transform("two", ["{{steps.one.output.n}}"])],
    settings: { tags: ["blue", "with space"] },
  });
  quickRuns = [];
  for (let n = 0; n < TOTAL; n += 1) quickRuns.unshift(await startRun(system, quickId, { n }));
  const sleepingId = await createActive(system, { steps: [delay("sleep", 60_000)] });
  const failingId = await createActive(system, { steps: [failing("call")] });
  const cancelled = await startRun(system, sleepingId);
  await system.call("POST", `/runs/${cancelled}/cancel`);
  runs = {
    completed: quickRuns[0] ?? "",
    failed: await startRun(system, failingId),
    suspended: await startRun(system, sleepingId),
    cancelled,
    timeout: await startRun(system, await activeStalled({ timeoutMs: 100 })),
    running: await startRun(system, await activeStalled({})),
  };
  for (const status of STATUSES) await waitForRun(system, runs[status], [status]);
  for (const id of quickRuns) await waitForRun(system, id);
});
afterAll(async () => {
  await system.stop();
  await outside.close();
});

/** A workflow whose only step waits for an answer in vain. */
function activeStalled(settings: { timeoutMs?: number }): Promise<string> {
  const config = { method: "GET", url: `${outside.url}/` };
  return createActive(system, {
    steps: [{ id: "ask", type: "action", name: "ask", action: "http.request", config }],
    settings,
  });
}

describe("GET /runs/{id}", () => {
  it("shows a completed run in full", async () => {
    const id = quickRuns[0] ?? "";
    const run = await getRun(system, id);
    expect(run).toMatchObject({
      id,
      workflowId: quickId,
      status: "completed",
      triggerType: "api",
      input: { n: TOTAL - 1 },
      output: [TOTAL - 1],
      error: null,
    });
    expect(run.triggerRuntimeRunId).not.toBeNull();
    const [created, started, completed] = [run.createdAt, run.startedAt, run.completedAt].map(
      (time) => Date.parse(time ?? ""),
    );
    expect(started).toBeGreaterThanOrEqual(created ?? NaN);
    expect(completed).toBeGreaterThanOrEqual(started ?? NaN);
    expect(run.durationMs).toBe((completed ?? NaN) - (started ?? NaN));
    expect(run.stepResults.map(({ stepId }) => stepId)).toEqual(["one", "two"]);
  });

  it("shows why a run failed, without an output", async () => {
    const run = await getRun(system, runs.failed);
    expect(run).toMatchObject({ status: "failed", output: null });
    expect(run.error).toMatchObject({ code: "CONNECT_FAILED", details: { stepId: "call" } });
    expect(run.stepResults[0]?.error).toMatchObject({ code: "CONNECT_FAILED" });
  });

  it("shows a run that waits as one that has begun and has not ended", async () => {
    for (const id of [runs.suspended, runs.running]) {
      const run = await getRun(system, id);
      expect(run).toMatchObject({ completedAt: null, durationMs: null, error: null, output: null });
      expect(run.startedAt).not.toBeNull();
    }
  });

  it("shows that a run's time was up (D28)", async () => {
    const run = await getRun(system, runs.timeout);
    expect(run).toMatchObject({ status: "timeout", error: { code: "RUN_TIMEOUT" } });
    expect(run.completedAt).not.toBeNull();
  });

  it.each([
    "run_00000000000000000000000000",
    "run_x",
    "0197f2a0-0000-7000-8000-000000000000",
    "%F0%9F%98%80",
  ])("answers 404 for %s (D1)", async (id) => {
    for (const path of [`/runs/${id}`, `/runs/${id}/logs`]) {
      const answer = await system.call("GET", path);
      expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
    }
  });
});

describe("GET /runs/{id}/logs", () => {
  it.each(STATUSES)("agrees with the run, when it is %s", async (status) => {
    const run = await getRun(system, runs[status]);
    const answer = await system.call("GET", `/runs/${run.id}/logs`);
    expect(answer.status).toBe(200);
    expect(runLogsSchema.parse(answer.data)).toEqual({
      runId: run.id,
      workflowId: run.workflowId,
      triggerRuntimeRunId: run.triggerRuntimeRunId,
      status,
      logs: run.stepResults,
      startedAt: run.startedAt,
      completedAt: run.completedAt,
      durationMs: run.durationMs,
      error: run.error,
    });
  });
});

describe("a list of runs", () => {
  it("omits input, output, step results and the task runtime's id of each", async () => {
    for (const path of ["/runs?limit=100", `/workflows/${quickId}/runs`]) {
      const { items } = await listRuns(system, path);
      for (const item of items) {
        // The schema of an item is strict: it has no other field, so what it shows is all there is.
        expect(await getRun(system, item.id)).toMatchObject(item);
      }
    }
  });

  it("is newest first (D6)", async () => {
    const { items } = await listRuns(system, `/workflows/${quickId}/runs`);
    expect(items.map(({ id }) => id)).toEqual(quickRuns);
    const all = (await listRuns(system, "/runs?limit=100")).items.map(({ id }) => id);
    expect(all).toEqual(all.toSorted().toReversed());
    expect(all.length).toBeGreaterThanOrEqual(TOTAL + STATUSES.length - 1);
  });

  it.each(STATUSES)("with status=%s has the runs of this status", async (status) => {
    const { items } = await listRuns(system, `/runs?limit=100&status=${status}`);
    expect(items.map(({ id }) => id)).toContain(runs[status]);
    expect(new Set(items.map((item) => item.status))).toEqual(new Set([status]));
  });

  it("with status=active has those that are pending, running or waiting for approval", async () => {
    const { items } = await listRuns(system, "/runs?status=active");
    expect(items.map(({ id }) => id)).toEqual([runs.running]);
  });

  it.each(["pending", "waiting_approval"])("may be empty: status=%s", async (status) => {
    expect(await listRuns(system, `/runs?status=${status}`)).toEqual({
      items: [],
      cursor: null,
      hasMore: false,
    });
  });

  it("with workflowId has the runs of this workflow, and none for one that does not exist (D1)", async () => {
    const { items } = await listRuns(system, `/runs?workflowId=${quickId}`);
    expect(items.map(({ id }) => id)).toEqual(quickRuns);
    for (const workflowId of ["0197f2a0-0000-7000-8000-000000000000", "not-a-uuid"]) {
      expect((await listRuns(system, `/runs?workflowId=${workflowId}`)).items).toEqual([]);
    }
  });

  it("filters by trigger, time and tag (D33)", async () => {
    const all = await listRuns(system, "/runs?limit=100");
    expect(await listRuns(system, "/runs?limit=100&triggerType=api")).toEqual(all);
    expect((await listRuns(system, "/runs?triggerType=schedule")).items).toEqual([]);
    const tagged = await listRuns(system, "/runs?tag=with%20space");
    expect(tagged.items.map(({ id }) => id)).toEqual(quickRuns);
    expect((await listRuns(system, "/runs?tag=with")).items).toEqual([]);
    const third = (await listRuns(system, `/workflows/${quickId}/runs`)).items[2];
    const createdAt = encodeURIComponent(third?.createdAt ?? "");
    const after = await listRuns(system, `/runs?workflowId=${quickId}&createdAfter=${createdAt}`);
    const before = await listRuns(system, `/runs?workflowId=${quickId}&createdBefore=${createdAt}`);
    for (const { createdAt: at } of after.items) expect(at >= (third?.createdAt ?? "")).toBe(true);
    for (const { createdAt: at } of before.items) expect(at <= (third?.createdAt ?? "")).toBe(true);
    expect(after.items.length + before.items.length).toBeGreaterThanOrEqual(TOTAL - 1);
  });

  it.each([1, 3, TOTAL - 1, TOTAL, TOTAL + 1])(
    "in pages of %i has every run once",
    async (limit) => {
      for (const path of [`/runs?workflowId=${quickId}&`, `/workflows/${quickId}/runs?`]) {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const next: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
          const page = await listRuns(system, `${path}limit=${limit}${next}`);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          seen.push(...page.items.map(({ id }) => id));
          expect(page.hasMore).toBe(seen.length < TOTAL);
          expect(page.cursor === null).toBe(!page.hasMore);
          cursor = page.cursor;
        } while (cursor !== null);
        expect(seen).toEqual(quickRuns);
      }
    },
  );

  it("has a cursor that is good for the same filters and company only (D6)", async () => {
    const { cursor } = await listRuns(system, `/runs?workflowId=${quickId}&limit=2`);
    const attempts: [string, string][] = [
      [`/runs?cursor=${cursor}`, system.acme.key],
      [`/runs?workflowId=${quickId}&status=completed&cursor=${cursor}`, system.acme.key],
      [`/workflows?cursor=${cursor}`, system.acme.key],
      [`/runs?workflowId=${quickId}&cursor=${cursor}`, system.globex.key],
      [`/runs?workflowId=${quickId}&cursor=x${cursor}`, system.acme.key],
      [`/workflows/${quickId}/runs?cursor=nonsense`, system.acme.key],
    ];
    for (const [path, key] of attempts) {
      const answer = await system.call("GET", path, { key });
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    }
  });

  it.each([
    ["status", "done"],
    ["status", ""],
    ["limit", "0"],
    ["limit", "101"],
    ["limit", "x"],
    ["triggerType", "carrier"],
    ["createdAfter", "yesterday"],
    ["createdBefore", "2026-13-01T00:00:00Z"],
  ])("refuses %s=%s", async (name, value) => {
    for (const path of ["/runs", `/workflows/${quickId}/runs`]) {
      const answer = await system.call("GET", `${path}?${name}=${value}`);
      expect(answer).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: [name], message: expect.any(String) }] },
      });
    }
  });

  it("of a workflow that was never run is empty, of one that does not exist 404", async () => {
    const { id } = await createWorkflow(system);
    expect((await listRuns(system, `/workflows/${id}/runs`)).items).toEqual([]);
    const missing = await system.call(
      "GET",
      "/workflows/0197f2a0-0000-7000-8000-000000000000/runs",
    );
    expect(missing).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });

  it("of another company shows nothing of this one", async () => {
    const answer = await system.call("GET", "/runs", { key: system.globex.key });
    expect(answer).toMatchObject({ status: 200, data: [], meta: { cursor: null, hasMore: false } });
  });

  it("follows a run from its start", async () => {
    const id = await createActive(system, { steps: [delay("nap", 200)] });
    const runId = await startRun(system, id);
    const [item] = (await listRuns(system, `/workflows/${id}/runs`)).items;
    expect(runListItemSchema.parse(item).id).toBe(runId);
    expect(["pending", "running"]).toContain(item?.status);
    await waitForRun(system, runId);
    const [ended] = (await listRuns(system, `/workflows/${id}/runs`)).items;
    expect(ended?.status).toBe("completed");
    expect((await runToEnd(system, id)).status).toBe("completed");
  });
});
