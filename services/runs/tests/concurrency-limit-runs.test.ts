import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { createTestDatabase, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { delay, httpStep, mapping, outputOf, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { faultsOf, logTransitions, readStory } from "./support/transition-log.ts";

let harness: RunsHarness;
let outside: HttpDouble;
/** Calls of each run that are under way at the moment, and the most that ever were. */
let inside = 0;
let most = 0;

beforeAll(async () => {
  outside = await startHttpDouble(async () => {
    inside += 1;
    most = Math.max(most, inside);
    await sleep(20);
    inside -= 1;
    return {};
  });
  harness = await startRunsHarness();
  await logTransitions(harness.database);
  await harness.startAnother("worker");
});
afterAll(async () => {
  await harness.close();
  await outside.close();
});

function limited(limit: number, onLimit?: "queue" | "skip") {
  return { settings: { concurrency: { limit, ...(onLimit === undefined ? {} : { onLimit }) } } };
}

function cancel(runId: string) {
  return harness.runs.cancelRun({ runId }, { identity: harness.identity });
}

async function waitForStatus(runId: string, status: RunStatus): Promise<void> {
  await waitFor(async () => (await harness.get(runId)).status === status, {
    what: `${runId} to have status ${status}`,
  });
}

/** Waits until the worker has put a run into the queue. */
async function waitForQueue(runId: string): Promise<void> {
  const found = sql.type(z.object({ held: z.boolean() }))`
    select held from runs.concurrency_slots where run_id = ${runId}
  `;
  await waitFor(async () => (await harness.database.maybeOne(found))?.held === false, {
    what: `${runId} to queue`,
  });
}

async function countSlots(workflowId: string): Promise<number> {
  const row = await harness.database.one(sql.type(z.object({ slots: z.number() }))`
    select count(*)::integer as slots from runs.concurrency_slots where workflow_id = ${workflowId}
  `);
  return row.slots;
}

describe("runs of a workflow with a concurrency limit (D15)", () => {
  it("are executed at most so many at a time by two workers, and all of them are", async () => {
    most = 0;
    const steps = [httpStep("one", `${outside.url}/1`), httpStep("two", `${outside.url}/2`)];
    const workflowId = await harness.deploy(steps, limited(3));
    const runIds = await Promise.all(Array.from({ length: 40 }, () => harness.start(workflowId)));
    const runs = await Promise.all(runIds.map((runId) => harness.waitForEnd(runId)));
    expect(new Set(runs.map((run) => run.status))).toEqual(new Set([RunStatus.COMPLETED]));
    // `concurrency-limit.test.ts` tests that all three slots are used. Here they need not be at the
    // receiver at the same moment.
    expect(most).toBeLessThanOrEqual(3);
    expect(await countSlots(workflowId)).toBe(0);
    for (const runId of runIds) {
      expect(faultsOf(await readStory(harness.database, runId))).toEqual([]);
    }
  });

  it("have not begun while they queue, and go on when one that waits has ended", async () => {
    const workflowId = await harness.deploy(
      [delay("sleep", 60_000), mapping("out", "slept")],
      limited(1),
    );
    const first = await harness.start(workflowId);
    await waitForStatus(first, RunStatus.SUSPENDED);
    const second = await harness.start(workflowId);
    await waitForQueue(second);
    const queued = await harness.get(second);
    expect(queued).toMatchObject({ status: RunStatus.PENDING, startedAt: undefined });
    expect((await readStory(harness.database, second)).events).toEqual([]);
    await cancel(first);
    await waitForStatus(second, RunStatus.SUSPENDED);
    await cancel(second);
    expect(await countSlots(workflowId)).toBe(0);
  });

  it("leave the queue when they are cancelled there, as runs that never began", async () => {
    const workflowId = await harness.deploy([delay("sleep", "{{input.ms}}")], limited(1));
    const first = await harness.start(workflowId, { ms: 60_000 });
    await waitForStatus(first, RunStatus.SUSPENDED);
    const second = await harness.start(workflowId, { ms: 0 });
    await waitForQueue(second);
    const third = await harness.start(workflowId, { ms: 0 });
    await waitForQueue(third);
    expect(await cancel(second)).toMatchObject({ status: RunStatus.CANCELLED });
    const story = await readStory(harness.database, second);
    expect(story).toMatchObject({ began: false, events: ["workflow.cancelled"] });
    expect(faultsOf(story)).toEqual([]);
    await cancel(first);
    expect(await harness.waitForEnd(third)).toMatchObject({ status: RunStatus.COMPLETED });
  });

  it("hand their slot on however they end: failed, timed out or cancelled", async () => {
    const workflowId = await harness.deploy(
      [delay("sleep", "{{input.ms}}"), httpStep("call", "{{input.url}}", { timeoutMs: 60_000 })],
      { settings: { concurrency: { limit: 1 }, timeoutMs: 5_000 } },
    );
    const stalled = await startHttpDouble(() => new Promise(() => {}));
    const starts = [
      { ms: 0, url: "http://127.0.0.1:1/" },
      { ms: 0, url: stalled.url },
      { ms: 0, url: `${outside.url}/fine` },
    ];
    const runIds: string[] = [];
    for (const input of starts) runIds.push(await harness.start(workflowId, input));
    const runs = await Promise.all(runIds.map((runId) => harness.waitForEnd(runId)));
    expect(runs.map((run) => run.status)).toEqual([
      RunStatus.FAILED,
      RunStatus.TIMEOUT,
      RunStatus.COMPLETED,
    ]);
    await stalled.close();
  });

  it("end as cancelled with CONCURRENCY_LIMIT where they may not queue", async () => {
    const workflowId = await harness.deploy([delay("sleep", 60_000)], limited(1, "skip"));
    const first = await harness.start(workflowId);
    await waitForStatus(first, RunStatus.SUSPENDED);
    const skipped = await harness.runToEnd(workflowId);
    expect(skipped).toMatchObject({
      status: RunStatus.CANCELLED,
      startedAt: undefined,
      stepResults: [],
      error: { code: "CONCURRENCY_LIMIT", message: expect.stringContaining("1") },
    });
    const story = await readStory(harness.database, skipped.id);
    expect(story.events).toEqual(["workflow.cancelled"]);
    expect(faultsOf(story)).toEqual([]);
    await cancel(first);
    const next = await harness.start(workflowId);
    await waitForStatus(next, RunStatus.SUSPENDED);
    await cancel(next);
  });

  it("do not hold up runs of other workflows", async () => {
    const busy = await harness.deploy([delay("sleep", 60_000)], limited(1));
    const holder = await harness.start(busy);
    const queued = await Promise.all(Array.from({ length: 150 }, () => harness.start(busy)));
    const other = await harness.deploy([mapping("out", "free")]);
    expect(outputOf(await harness.runToEnd(other))).toBe("free");
    await Promise.all(queued.map(cancel));
    await cancel(holder);
    expect(await countSlots(busy)).toBe(0);
  });
});

describe("the queue of a concurrency limit", () => {
  it("outlives the processes", async () => {
    const testDatabase = await createTestDatabase();
    const { connectionUri: databaseUrl } = testDatabase;
    const before = await startRunsHarness({ databaseUrl });
    const { identity } = before;
    const workflowId = await before.deploy([delay("sleep", 300), mapping("out", 1)], limited(1));
    const runIds: string[] = [];
    for (let run = 0; run < 6; run += 1) runIds.push(await before.start(workflowId));
    await waitFor(async () => (await before.get(runIds[0] ?? "")).status !== RunStatus.PENDING);
    await before.close();
    const after = await startRunsHarness({ databaseUrl });
    for (const runId of runIds) {
      const run = await waitFor(async () => {
        const found = await after.runs.getRun({ runId }, { identity });
        return found.completedAt === undefined ? null : found;
      });
      expect(run).toMatchObject({ status: RunStatus.COMPLETED });
    }
    await after.close();
    await testDatabase.close();
  });
});
