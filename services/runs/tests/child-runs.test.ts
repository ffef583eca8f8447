import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  approval,
  callWorkflow,
  delay,
  expression,
  forEach,
  mapping,
  outputOf,
  parallel,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;

beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

const statusRow = z.object({ id: z.string(), status: z.string(), depth: z.number() });

const childrenOf = (runId: string) =>
  harness.database.any(sql.type(statusRow)`
    select id, status, depth from runs.runs where parent_run_id = ${runId} order by id
  `);

/** Follows the transaction that ended the parent, or gave its branch up. */
const waitForCancelledChild = (parentId: string): Promise<true> =>
  waitFor(async () => ((await childrenOf(parentId))[0]?.status === "cancelled" ? true : null), {
    what: "the child to be cancelled",
  });

describe("a workflow step", () => {
  it("runs another workflow and returns its output", async () => {
    const child = await harness.deploy([expression("sum", "$sum(input.list)")]);
    const parent = await harness.deploy([
      callWorkflow("call", child, { input: { list: "{{input.numbers}}" } }),
      mapping("end", { sum: "{{steps.call.output}}" }),
    ]);
    const run = await harness.runToEnd(parent, { numbers: [1, 2, 3] });
    expect(outputOf(run)).toEqual({ sum: 6 });
    expect(await childrenOf(run.id)).toEqual([
      expect.objectContaining({ status: "completed", depth: 1 }),
    ]);
  });

  it("starts one child for each item, side by side, also when they wait", async () => {
    const child = await harness.deploy([delay("d", 30), mapping("m", "{{input.n}}")]);
    const parent = await harness.deploy([
      forEach("p", [1, 2, 3], [callWorkflow("call", child, { input: { n: "{{loop.item}}" } })]),
    ]);
    const run = await harness.runToEnd(parent);
    expect(outputOf(run)).toEqual([1, 2, 3]);
    expect(await childrenOf(run.id)).toHaveLength(3);
  });

  it("without wait returns the child's id and goes on", async () => {
    const child = await harness.deploy([delay("d", 600_000)]);
    const parent = await harness.deploy([callWorkflow("call", child, { wait: false })]);
    const run = await harness.runToEnd(parent);
    const [started] = await childrenOf(run.id);
    expect(outputOf(run)).toEqual({ runId: started?.id });
    await harness.runs.cancelRun({ runId: started?.id ?? "" }, { identity: harness.identity });
  });

  it("fails with the child's error", async () => {
    const child = await harness.deploy([expression("wrong", "$error('broken')")]);
    const parent = await harness.deploy([callWorkflow("call", child)]);
    const run = await harness.runToEnd(parent);
    expect(run.error?.code).toBe("CHILD_RUN_FAILED");
    const details = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(run.error?.detailsJson ?? ""));
    expect(details).toMatchObject({ status: "failed", stepId: "call" });
    expect(details["childRunId"]).toBe((await childrenOf(run.id))[0]?.id);
  });

  it("can be retried, each time with a child of its own", async () => {
    const child = await harness.deploy([expression("wrong", "$error('broken')")]);
    const retry = { maxAttempts: 3, delayMs: 5, backoff: "fixed", jitter: false };
    const parent = await harness.deploy([callWorkflow("call", child, {}, { retry })]);
    const run = await harness.runToEnd(parent);
    expect(run.status).toBe(RunStatus.FAILED);
    expect(await childrenOf(run.id)).toHaveLength(3);
  });

  it.each([
    ["an unknown workflow", () => Promise.resolve(newUuid()), {}, "CHILD_NOT_FOUND"],
    [
      "another company's workflow",
      () =>
        harness.deploy([mapping("m", 1)], {
          identity: { ...harness.identity, companyId: newUuid() },
        }),
      {},
      "CHILD_NOT_FOUND",
    ],
    [
      "an input that does not fit",
      () =>
        harness.deploy([mapping("m", 1)], {
          inputSchema: { type: "object", required: ["n"], properties: { n: { type: "number" } } },
        }),
      { n: "text" },
      "CHILD_INPUT_INVALID",
    ],
  ])("fails clearly for %s", async (_what, target, input, code) => {
    const parent = await harness.deploy([callWorkflow("call", await target(), { input })]);
    const run = await harness.runToEnd(parent);
    expect(run.error?.code).toBe(code);
    expect(await childrenOf(run.id)).toEqual([]);
  });

  it("calling itself ends at a depth of 25 with a clear error", async () => {
    const workflowId = newUuid();
    await harness.deploy([callWorkflow("again", workflowId)], { workflowId });
    const run = await harness.runToEnd(workflowId);
    expect(run.status).toBe(RunStatus.FAILED);
    const deepest = await harness.database.any(sql.type(statusRow)`
      select id, status, depth from runs.runs
      where workflow_id = ${workflowId} order by depth desc limit 1
    `);
    expect(deepest).toEqual([expect.objectContaining({ depth: 25, status: "failed" })]);
    const lowest = await harness.get(deepest[0]?.id ?? "");
    expect(lowest.error?.code).toBe("CHILD_TOO_DEEP");
  });

  it("shares the slot of its run when its workflow has a concurrency limit", async () => {
    const workflowId = newUuid();
    const other = await harness.deploy([callWorkflow("back", workflowId, { input: { n: 0 } })]);
    await harness.deploy(
      [
        callWorkflow(
          "down",
          other,
          {},
          {
            when: { left: "{{input.n}}", operator: "greater_than", right: 0 },
          },
        ),
        mapping("end", "{{steps.down.status}}"),
      ],
      { workflowId, settings: { concurrency: { limit: 1 } } },
    );
    const run = await harness.runToEnd(workflowId, { n: 1 });
    expect(outputOf(run)).toBe("success");
  });

  it("cancels its child when its run is cancelled, to whatever depth", async () => {
    const leaf = await harness.deploy([approval("ask")]);
    const middle = await harness.deploy([callWorkflow("call", leaf)]);
    const top = await harness.deploy([callWorkflow("call", middle)]);
    const runId = await harness.start(top);
    const leafRun = await harness.waitForRun(leaf, RunStatus.WAITING_APPROVAL);
    await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    expect((await harness.get(leafRun)).status).toBe(RunStatus.CANCELLED);
    const [middleRun] = await childrenOf(runId);
    expect(middleRun?.status).toBe("cancelled");
  });

  it("cancels its child when its branch loses, or its run times out", async () => {
    const child = await harness.deploy([delay("d", 600_000)]);
    const race = await harness.deploy([
      parallel(
        "p",
        { a: [callWorkflow("call", child)], b: [delay("b1", 100)] },
        { strategy: "wait-any" },
      ),
    ]);
    const run = await harness.runToEnd(race);
    expect(run.status).toBe(RunStatus.COMPLETED);
    await waitForCancelledChild(run.id);

    const limited = await harness.deploy([callWorkflow("call", child)], {
      settings: { timeoutMs: 300 },
    });
    const timedOut = await harness.runToEnd(limited);
    expect(timedOut.status).toBe(RunStatus.TIMEOUT);
    await waitForCancelledChild(timedOut.id);
  });

  it("fails when somebody cancels the child", async () => {
    const child = await harness.deploy([approval("ask")]);
    const parent = await harness.deploy([callWorkflow("call", child)]);
    const runId = await harness.start(parent);
    const childRun = await harness.waitForRun(child, RunStatus.WAITING_APPROVAL);
    await harness.runs.cancelRun({ runId: childRun }, { identity: harness.identity });
    expect((await harness.waitForEnd(runId)).error?.code).toBe("CHILD_RUN_FAILED");
  });
});
