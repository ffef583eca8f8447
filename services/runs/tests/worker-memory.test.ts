import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import {
  delay,
  forEach,
  httpStep,
  listRequest,
  mapping,
  outputOf,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const nothing = z.object({});
/** A call without earlier outputs is estimated to need 192 KiB of it. */
const MEMORY_BYTES = 1024 * 1024;
const CALLS_AT_ONCE = 5;
const LARGE = 200 * 1024;

let harness: RunsHarness;
let receiver: HttpDouble;
const held = { count: 0, most: 0, release: Promise.withResolvers<void>() };

beforeAll(async () => {
  harness = await startRunsHarness({ workerMemoryBytes: MEMORY_BYTES, workerConcurrency: 6 });
  receiver = await startHttpDouble(({ path }, response) => {
    if (path === "/large") {
      response.end("x".repeat(LARGE));
      return;
    }
    if (path === "/small") {
      response.end("{}");
      return;
    }
    held.count += 1;
    held.most = Math.max(held.most, held.count);
    void held.release.promise.then(() => {
      held.count -= 1;
      response.end("{}");
    });
  });
});
afterAll(async () => {
  held.release.resolve();
  await harness.close();
  await receiver.close();
});
beforeEach(() => {
  Object.assign(held, { count: 0, most: 0, release: Promise.withResolvers<void>() });
});

const call = (id: string, path: string) => httpStep(id, `${receiver.url}${path}`);
const items = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("the memory of a worker", () => {
  it("lets calls wait for those that are under way, and all come to an end", async () => {
    const workflowId = await harness.deploy([forEach("p", items(30), [call("c", "/held")])]);
    const runId = await harness.start(workflowId);
    await waitFor(() => held.count === CALLS_AT_ONCE, {
      what: "as many calls as there is room for",
    });
    held.release.resolve();
    expect(await harness.waitForEnd(runId)).toMatchObject({ status: RunStatus.COMPLETED });
    expect(held.most).toBe(CALLS_AT_ONCE);
  });

  it("is shared by turns: a company that has less of it overtakes one that fills it", async () => {
    const other = testIdentity();
    const greedy = await harness.deploy([forEach("p", items(60), [call("c", "/held")])]);
    const modest = await harness.deploy([call("c", "/small"), mapping("m", "fine")], {
      identity: other,
    });
    receiver.requests.length = 0;
    const greedyRun = await harness.start(greedy);
    await waitFor(() => expect(held.count).toBe(CALLS_AT_ONCE));
    const answer = harness.runs.startRun(
      { ...startRequest(modest), waitMs: 20_000 },
      { identity: other, timeoutMs: 25_000 },
    );
    await waitFor(async () => {
      const { runs } = await harness.runs.listRuns(listRequest(), { identity: other });
      return runs.length === 1;
    });
    held.release.resolve();
    expect((await answer).run).toMatchObject({
      status: RunStatus.COMPLETED,
      outputJson: '"fine"',
    });
    await harness.waitForEnd(greedyRun);
    // By age it would be the last: 55 runs of the other company waited before it.
    const order = receiver.requests.map(({ path }) => path);
    expect(order).toHaveLength(61);
    expect(order.indexOf("/small")).toBeLessThan(40);
  });

  it("lets answers wait that are larger than anybody knew, and all come to an end", async () => {
    const other = await harness.deploy([
      forEach("p", items(5), [call("c", "/large"), mapping("m", "{{steps.c.output.status}}")]),
    ]);
    expect(outputOf(await harness.runToEnd(other))).toEqual(items(5).map(() => 200));
  });

  it("never lets runs wait for each other, however little there is", async () => {
    const workflowId = await harness.deploy([
      forEach("p", items(5), [
        call("one", "/large"),
        call("two", "/large"),
        mapping("m", ["{{steps.one.output.status}}", "{{steps.two.output.status}}"]),
      ]),
      mapping("end", "{{steps.p.output}}"),
    ]);
    const runIds = await Promise.all(items(3).map(() => harness.start(workflowId)));
    for (const runId of runIds) {
      const run = await harness.waitForEnd(runId);
      expect(run.error).toBeUndefined();
      expect(outputOf(run)).toEqual(items(5).map(() => [200, 200]));
    }
  });

  it("sends a run whose history has no room back to the queue where its slot is needed", async () => {
    const large = await harness.deploy([
      forEach("p", "{{input.items}}", [mapping("a", 1), mapping("b", 2)]),
      delay("d", 3_600_000),
    ]);
    const runId = await harness.start(large, { items: items(400) });
    const taskRow = z.object({ attempts: z.number(), takeovers: z.number() });
    await waitFor(async () => (await harness.get(runId)).status === RunStatus.SUSPENDED, {
      timeoutMs: 60_000,
    });
    const holding = await harness.deploy([call("c", "/held")]);
    const holders = await Promise.all(items(5).map(() => harness.start(holding)));
    await waitFor(() => expect(held.count).toBe(CALLS_AT_ONCE));
    await harness.database.query(sql.type(nothing)`
      update runs.open_steps set due_at = now() where run_id = ${runId}
    `);
    // As if another worker had executed it in between, so that its history has to be read.
    await harness.database.query(sql.type(nothing)`
      update runs.tasks set due_at = now(), fence = fence + 1 where run_id = ${runId}
    `);
    const canary = await harness.deploy([mapping("m", "fine")]);
    expect(outputOf(await harness.runToEnd(canary))).toBe("fine");
    held.release.resolve();
    for (const holder of holders) await harness.waitForEnd(holder);
    const task = await harness.database.maybeOne(sql.type(taskRow)`
      select attempts, takeovers from runs.tasks where run_id = ${runId}
    `);
    expect(task ?? { attempts: 0, takeovers: 0 }).toEqual({ attempts: 0, takeovers: 0 });
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.COMPLETED);
  });
});
