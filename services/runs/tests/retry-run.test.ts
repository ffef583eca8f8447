import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import {
  delay,
  expression,
  httpStep,
  mapping,
  outputOf,
  parallel,
  repeat,
  resultsOf,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;
/** Paths to which the receiver answers 500. */
const broken = new Set<string>();

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble((request, response) => {
    response.writeHead(broken.has(request.path) ? 500 : 200, {
      "content-type": "application/json",
    });
    response.end(JSON.stringify({ path: request.path }));
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});
beforeEach(() => {
  broken.clear();
  receiver.requests.length = 0;
});

const retry = (runId: string) => harness.runs.retryRun({ runId }, { identity: harness.identity });
const call = (id: string) => httpStep(id, `${receiver.url}/${id}`);
const calls = () => receiver.requests.map(({ path }) => path.slice(1));

describe("RetryRun", () => {
  it("goes on at the step that failed, with what earlier steps gave and the same input", async () => {
    const workflowId = await harness.deploy([
      call("one"),
      mapping("two", "{{input.word}}"),
      call("three"),
      mapping("four", { one: "{{steps.one.output.body.path}}", two: "{{steps.two.output}}" }),
    ]);
    broken.add("/three");
    const failed = await harness.runToEnd(workflowId, { word: "kept" });
    expect(failed.status).toBe(RunStatus.FAILED);
    broken.clear();
    receiver.requests.length = 0;

    const restarted = await retry(failed.id);

    expect(restarted).toMatchObject({
      originalRunId: failed.id,
      restartFromStepId: "three",
      run: {
        workflowId,
        status: RunStatus.PENDING,
        restartedFromRunId: failed.id,
        stepResults: [],
        startedAt: undefined,
      },
    });
    const run = await harness.waitForEnd(restarted.run?.id ?? "");
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, inputJson: '{"word":"kept"}' });
    expect(run.restartedFromRunId).toBe(failed.id);
    expect(calls()).toEqual(["three"]);
    expect(outputOf(run)).toEqual({ one: "/one", two: "kept" });
    expect(run.stepResults.map(({ path, reused }) => [path, reused])).toEqual([
      ["one", true],
      ["two", true],
      ["three", false],
      ["four", false],
    ]);
    const [reused] = run.stepResults;
    expect(reused).toEqual({ ...failed.stepResults[0], reused: true });
    expect(await harness.get(failed.id)).toEqual(failed);
  });

  it("runs the version that failed, though the workflow has another by now", async () => {
    const workflowId = await harness.deploy([call("old"), call("fails")], { version: 1 });
    broken.add("/fails");
    const failed = await harness.runToEnd(workflowId);
    await harness.deploy([mapping("new", 1)], { workflowId, revision: 2, version: 2 });
    broken.clear();
    const run = await harness.waitForEnd((await retry(failed.id)).run?.id ?? "");
    expect(run).toMatchObject({ status: RunStatus.COMPLETED, workflowVersion: 1 });
    expect(run.stepResults.map(({ path }) => path)).toEqual(["old", "fails"]);
  });

  it("can be repeated until it works, and each run tells from which it came", async () => {
    const workflowId = await harness.deploy([call("a"), call("b")]);
    broken.add("/a");
    let run = await harness.runToEnd(workflowId);
    broken.clear();
    broken.add("/b");
    for (const _again of [1, 2]) {
      const next = await harness.waitForEnd((await retry(run.id)).run?.id ?? "");
      expect(next).toMatchObject({ status: RunStatus.FAILED, restartedFromRunId: run.id });
      run = next;
    }
    broken.clear();
    const last = await harness.waitForEnd((await retry(run.id)).run?.id ?? "");
    expect(last.status).toBe(RunStatus.COMPLETED);
    // The result of the first step came down through three runs.
    expect(last.stepResults.map(({ reused }) => reused)).toEqual([true, false]);
    expect(calls().filter((name) => name === "a")).toHaveLength(2);
  });

  it("repeats only the failed branch of a parallel step", async () => {
    const workflowId = await harness.deploy([
      call("before"),
      parallel("par", { left: [call("l1"), call("l2")], right: [call("r1"), call("r2")] }),
      call("after"),
    ]);
    broken.add("/r2");
    const failed = await harness.runToEnd(workflowId);
    expect(failed.status).toBe(RunStatus.FAILED);
    broken.clear();
    receiver.requests.length = 0;
    const restarted = await retry(failed.id);
    expect(restarted.restartFromStepId).toBe("r2");
    const run = await harness.waitForEnd(restarted.run?.id ?? "");
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(calls()).toEqual(["r2", "after"]);
  });

  it("repeats every failed branch when several failed", async () => {
    const workflowId = await harness.deploy([
      parallel("par", { left: [call("l1"), call("l2")], right: [call("r1"), call("r2")] }),
    ]);
    for (const path of ["/r2", "/l2"]) broken.add(path);
    const failed = await harness.runToEnd(workflowId);
    broken.clear();
    receiver.requests.length = 0;
    const run = await harness.waitForEnd((await retry(failed.id)).run?.id ?? "");
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(calls().toSorted()).toEqual(["l2", "r2"]);
  });

  it("repeats branches that were given up because another failed", async () => {
    const workflowId = await harness.deploy([
      parallel(
        "par",
        { quick: [call("q1"), call("q2")], slow: [call("s1"), delay("wait", 60_000), call("s2")] },
        { strategy: "fail-fast" },
      ),
    ]);
    broken.add("/q2");
    const failed = await harness.runToEnd(workflowId);
    expect(failed.status).toBe(RunStatus.FAILED);
    broken.clear();
    receiver.requests.length = 0;
    const { run } = await retry(failed.id);
    await waitFor(() => calls().includes("q2"));
    // The slow branch sleeps again; its earlier steps are not executed again.
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    expect(calls()).toEqual(["q2"]);
    await harness.runs.cancelRun({ runId: run?.id ?? "" }, { identity: harness.identity });
  });

  it("goes on in the iteration of a loop that failed", async () => {
    const workflowId = await harness.deploy([
      repeat("loop", { items: "{{input.items}}" }, [
        httpStep("visit", `${receiver.url}/{{loop.item}}`),
        mapping("seen", "{{steps.visit.output.body.path}}"),
      ]),
    ]);
    broken.add("/c");
    const failed = await harness.runToEnd(workflowId, { items: ["a", "b", "c", "d"] });
    expect(failed).toMatchObject({ status: RunStatus.FAILED });
    expect(JSON.parse(failed.error?.detailsJson ?? "")).toMatchObject({ path: "loop[2].visit" });
    broken.clear();
    receiver.requests.length = 0;
    const run = await harness.waitForEnd((await retry(failed.id)).run?.id ?? "");
    expect(outputOf(run)).toEqual(["/a", "/b", "/c", "/d"]);
    expect(calls()).toEqual(["c", "d"]);
  });

  it("goes on where a run was that took too long", async () => {
    const slow = await startHttpDouble((request, response) => {
      if (request.path !== "/hang") response.end("{}");
    });
    const workflowId = await harness.deploy(
      [
        httpStep("quick", `${slow.url}/quick`),
        repeat("loop", { count: 3 }, [
          mapping("pure", "{{loop.index}}"),
          httpStep("hang", `${slow.url}/hang`),
        ]),
      ],
      { settings: { timeoutMs: 4_000 } },
    );
    const timedOut = await harness.runToEnd(workflowId);
    expect(timedOut.status).toBe(RunStatus.TIMEOUT);
    const restarted = await retry(timedOut.id);
    expect(restarted.run?.restartedFromRunId).toBe(timedOut.id);
    const run = await harness.waitForEnd(restarted.run?.id ?? "");
    expect(run.status).toBe(RunStatus.TIMEOUT);
    expect(run.stepResults[0]).toMatchObject({ path: "quick", reused: true });
    expect(slow.requests.filter(({ path }) => path === "/quick")).toHaveLength(1);
    await slow.close();
  });

  it("repeats the last step of a run whose output did not fit", async () => {
    const workflowId = await harness.deploy([mapping("a", 1), mapping("b", "text")], {
      outputSchema: { type: "number" },
    });
    const failed = await harness.runToEnd(workflowId);
    expect(failed.error?.code).toBe("OUTPUT_INVALID");
    const restarted = await retry(failed.id);
    expect(restarted.restartFromStepId).toBe("b");
    const run = await harness.waitForEnd(restarted.run?.id ?? "");
    expect(run.stepResults.map(({ reused }) => reused)).toEqual([true, false]);
  });

  it("of a failed run without steps ends as that did", async () => {
    const workflowId = await harness.deploy([], { outputSchema: { type: "number" } });
    const failed = await harness.runToEnd(workflowId);
    const restarted = await retry(failed.id);
    expect(restarted.restartFromStepId).toBe("");
    expect((await harness.waitForEnd(restarted.run?.id ?? "")).status).toBe(RunStatus.FAILED);
  });

  it("refuses a run in any other state and says in which it is", async () => {
    const sleeping = await harness.deploy([delay("wait", 60_000)]);
    const suspended = await harness.start(sleeping);
    await harness.waitForRun(sleeping, RunStatus.SUSPENDED);
    await expect(retry(suspended)).rejects.toMatchObject({
      reason: "INVALID_STATE",
      details: { currentStatus: "suspended" },
    });
    await harness.runs.cancelRun({ runId: suspended }, { identity: harness.identity });
    const completed = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    for (const [runId, currentStatus] of [
      [suspended, "cancelled"],
      [completed.id, "completed"],
    ] as const) {
      await expect(retry(runId)).rejects.toMatchObject({
        reason: "INVALID_STATE",
        details: { currentStatus },
      });
    }
  });

  it("knows nothing of another company's run, nor of ids that are none", async () => {
    const failed = await harness.runToEnd(await harness.deploy([expression("a", '$error("")')]));
    const stranger = { identity: testIdentity() };
    for (const [runId, options] of [
      [failed.id, stranger],
      [newId("run_"), { identity: harness.identity }],
      ["run_x", { identity: harness.identity }],
      ["", { identity: harness.identity }],
    ] as const) {
      await expect(harness.runs.retryRun({ runId }, options)).rejects.toMatchObject({
        reason: "NOT_FOUND",
      });
    }
  });

  it("makes a run for each of 20 who ask at once, and each is executed once", async () => {
    const workflowId = await harness.deploy([call("first"), call("second")]);
    broken.add("/second");
    const failed = await harness.runToEnd(workflowId);
    broken.clear();
    receiver.requests.length = 0;
    const restarted = await Promise.all(Array.from({ length: 20 }, () => retry(failed.id)));
    const ids = restarted.map(({ run }) => run?.id ?? "");
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) {
      const run = await harness.waitForEnd(id);
      expect(run.status).toBe(RunStatus.COMPLETED);
      expect(resultsOf(run)).toHaveLength(2);
    }
    expect(calls()).toEqual(Array.from({ length: 20 }, () => "second"));
  });

  it("takes over ten thousand results with one statement", async () => {
    const count = 5_000;
    const workflowId = await harness.deploy([
      repeat("loop", { count, maxIterations: count }, [mapping("a", 1), mapping("b", 1)]),
      call("fails"),
    ]);
    broken.add("/fails");
    const failed = await harness.waitForEnd(await harness.start(workflowId));
    expect(failed.error?.code).toBe("HTTP_STATUS");
    broken.clear();
    const { run } = await retry(failed.id);
    await harness.waitForEnd(run?.id ?? "");
    const rows = await harness.database.one(sql.type(
      z.object({ reused: z.number(), all: z.number(), same: z.number() }),
    )`
      select count(*) filter (where copy.reused)::int as reused, count(*)::int as all,
        count(*) filter (where copy.seq = original.seq)::int as same
      from runs.step_results as copy
      join runs.step_results as original
        on original.run_id = ${failed.id} and original.path = copy.path
      where copy.run_id = ${run?.id ?? ""}
    `);
    expect(rows).toEqual({ reused: 2 * count + 1, all: 2 * count + 2, same: 2 * count + 2 });
  });

  it("needs the scope workflows:execute", async () => {
    const identity = { ...harness.identity, scopes: ["runs:read"] };
    await expect(
      harness.runs.retryRun({ runId: newId("run_") }, { identity }),
    ).rejects.toMatchObject({ reason: "FORBIDDEN" });
  });

  it("keeps the connection that the original selected", async () => {
    const workflowId = await harness.deploy([expression("a", '$error("")')]);
    const started = await harness.runs.startRun(
      { ...startRequest(workflowId), connectionId: "conn_x", waitMs: 10_000 },
      { identity: harness.identity },
    );
    const { run } = await retry(started.run?.id ?? "");
    const connection = await harness.database.oneFirst(
      sql.type(z.object({ connection_id: z.string().nullable() }))`
        select connection_id from runs.runs where id = ${run?.id ?? ""}
      `,
    );
    expect(connection).toBe("conn_x");
  });
});
