import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Approval } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { RestartedRun } from "@workflow/proto/runs/v1/runs";

import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  approval,
  forEach,
  httpStep,
  mapping,
  outputOf,
  parallel,
  repeat,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;
/** Paths to which the receiver answers 500. */
const broken = new Set<string>();

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble((request, response) => {
    response.writeHead(broken.has(request.path) ? 500 : 200);
    response.end("{}");
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

const call = (id: string) => httpStep(id, `${receiver.url}/${id}`);
const callsOf = (id: string) => receiver.requests.filter(({ path }) => path === `/${id}`).length;
const options = () => ({ identity: harness.identity });

async function approvalsOf(runId: string): Promise<Approval[]> {
  return (await harness.approvals.listRunApprovals({ runId }, options())).approvals;
}

/** Approves everything until the run ends; returns the paths that were asked, in order. */
async function approveAll(runId: string): Promise<{ run: Run; asked: string[] }> {
  const run = await waitFor(
    async () => {
      const waiting = (await approvalsOf(runId)).filter(
        ({ status }) => status === ApprovalStatus.WAITING,
      );
      for (const { id: approvalId } of waiting) {
        const decision = ApprovalStatus.APPROVED;
        await harness.approvals.decideApproval({ runId, approvalId, decision }, options());
      }
      const current = await harness.get(runId);
      return current.completedAt === undefined ? null : current;
    },
    { timeoutMs: 60_000, what: "the run to end" },
  );
  return { run, asked: (await approvalsOf(runId)).map(({ path }) => path) };
}

async function firstRun(steps: unknown[], input: unknown = {}) {
  const runId = await harness.start(await harness.deploy(steps), input);
  return approveAll(runId);
}

async function goOn(restarted: Promise<RestartedRun>) {
  return approveAll((await restarted).run?.id ?? "");
}

const retry = (runId: string) => goOn(harness.runs.retryRun({ runId }, options()));
const restart = (runId: string, fromStepId: string, override?: unknown) =>
  goOn(
    harness.runs.restartRun(
      {
        runId,
        fromStepId,
        overrideInputJson: override === undefined ? undefined : JSON.stringify(override),
      },
      options(),
    ),
  );

/** The results of a run that were taken over. */
const reusedIn = (run: Run): string[] =>
  run.stepResults.filter(({ reused }) => reused).map(({ path }) => path);

describe("a retry", () => {
  it("does not ask again what was approved before the step that failed", async () => {
    broken.add("/pay");
    const steps = [mapping("before", 1), approval("ask"), call("pay"), mapping("after", 2)];
    const failed = await firstRun(steps);
    expect(failed).toMatchObject({ run: { status: RunStatus.FAILED }, asked: ["ask"] });
    broken.clear();
    const { run, asked } = await retry(failed.run.id);
    expect(asked).toEqual([]);
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(reusedIn(run)).toEqual(["before", "ask"]);
  });

  it("takes over that nobody decided in time where that means approved", async () => {
    broken.add("/pay");
    const steps = [approval("ask", { timeoutMs: 1, onTimeout: "approve" }), call("pay")];
    const failed = await harness.runToEnd(await harness.deploy(steps));
    expect(failed.status).toBe(RunStatus.FAILED);
    broken.clear();
    const { run, asked } = await retry(failed.id);
    expect([run.status, asked]).toEqual([RunStatus.COMPLETED, []]);
  });

  it("takes over an approval inside the branch that failed behind it", async () => {
    broken.add("/pay");
    const steps = [
      parallel("par", { left: [approval("l1"), call("pay")], right: [approval("r1")] }),
      mapping("after", 1),
    ];
    const failed = await firstRun(steps);
    broken.clear();
    const { run, asked } = await retry(failed.run.id);
    expect([run.status, asked]).toEqual([RunStatus.COMPLETED, []]);
  });

  it("asks again of iterations that come after the one that is done again", async () => {
    const steps = [
      repeat("each", { items: [1, 2, 3] }, [approval("ask"), call("pay")]),
      mapping("after", 1),
    ];
    const done = await firstRun(steps);
    expect(done.asked).toEqual(["each[0].ask", "each[1].ask", "each[2].ask"]);
    const { run, asked } = await restart(done.run.id, "each[1].pay");
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(asked).toEqual(["each[2].ask"]);
  });
});

describe("a restart with the input as it was", () => {
  const steps = () => [
    mapping("first", "{{input.amount}}"),
    approval("ask", { message: "Pay {{input.amount}}?" }),
    call("effect"),
    mapping("last", "{{input.amount}}"),
  ];

  it("takes the approval over when it begins behind it", async () => {
    const { run: original } = await firstRun(steps(), { amount: 1 });
    const { run, asked } = await restart(original.id, "effect");
    expect(asked).toEqual([]);
    expect(reusedIn(run)).toEqual(["first", "ask"]);
  });

  it("takes it over when the override changes nothing", async () => {
    const { run: original } = await firstRun(steps(), { amount: 1, to: { a: [1, { b: 2 }] } });
    const same = [{}, { amount: 1 }, { to: { a: [1, { b: 2 }] } }, { amount: 1.0, to: {} }];
    for (const override of same) {
      const { run, asked } = await restart(original.id, "effect", override);
      expect([override, asked, run.inputJson]).toEqual([override, [], original.inputJson]);
    }
  });

  it("asks again when it begins at the approval or before", async () => {
    const { run: original } = await firstRun(steps(), { amount: 1 });
    expect((await restart(original.id, "ask")).asked).toEqual(["ask"]);
    expect((await restart(original.id, "first")).asked).toEqual(["ask"]);
  });
});

describe("a restart with another input", () => {
  it("asks again, showing it, though it begins behind the approval; effects stay done", async () => {
    const { run: original } = await firstRun(
      [
        mapping("first", 1),
        approval("ask", { message: "Pay {{input.amount}}?" }),
        call("done"),
        mapping("last", "{{input.amount}}"),
      ],
      { amount: 1 },
    );
    const before = callsOf("done");
    const { run, asked } = await restart(original.id, "last", { amount: 1_000 });
    expect(asked).toEqual(["ask"]);
    expect((await approvalsOf(run.id))[0]?.message).toBe("Pay 1000?");
    expect(reusedIn(run)).toEqual(["first", "done"]);
    expect(callsOf("done")).toBe(before);
    expect([run.status, outputOf(run)]).toEqual([RunStatus.COMPLETED, 1_000]);
  });

  it("does nothing more when the approval is now refused", async () => {
    const { run: original } = await firstRun([approval("ask"), call("never")], { n: 1 });
    const before = callsOf("never");
    const { run } = await harness.runs.restartRun(
      { runId: original.id, fromStepId: "never", overrideInputJson: '{"n":2}' },
      options(),
    );
    const runId = run?.id ?? "";
    const [waiting] = await waitFor(async () => {
      const found = await approvalsOf(runId);
      return found.length > 0 ? found : null;
    });
    const decision = ApprovalStatus.REJECTED;
    const request = { runId, approvalId: waiting?.id ?? "", decision };
    await harness.approvals.decideApproval(request, options());
    expect((await harness.waitForEnd(runId)).status).toBe(RunStatus.FAILED);
    expect(callsOf("never")).toBe(before);
  });

  it("asks again of an approval that had timed out, and of a rejection that did not count", async () => {
    const { run: original } = await firstRun(
      [
        approval("slow", { timeoutMs: 1, onTimeout: "approve" }),
        approval("no", { timeoutMs: 1, onTimeout: "reject" }, { onError: "continue" }),
        mapping("last", 1),
      ],
      { n: 1 },
    );
    expect(original.status).toBe(RunStatus.COMPLETED);
    expect((await restart(original.id, "last")).asked).toEqual([]);
    expect((await restart(original.id, "last", { n: 2 })).asked).toEqual(["slow", "no"]);
  });

  const NESTED: readonly [string, () => unknown[], string[]][] = [
    [
      "a condition",
      () => [
        {
          id: "if",
          type: "condition",
          name: "If",
          config: {
            branches: [
              {
                id: "yes",
                when: { left: "{{input.go}}", operator: "equals", right: true },
                steps: [mapping("in", 1), approval("ask"), call("inner")],
              },
            ],
          },
        },
      ],
      ["if.yes.ask"],
    ],
    [
      "a loop",
      () => [repeat("each", { count: 2 }, [approval("ask")])],
      ["each[0].ask", "each[1].ask"],
    ],
    [
      "branches",
      () => [parallel("par", { one: [approval("a")], two: [mapping("x", 1), approval("b")] })],
      ["par.one.a", "par.two.b"],
    ],
    ["items", () => [forEach("all", [1, 2], [approval("ask")])], ["all[0].ask", "all[1].ask"]],
    [
      "a loop in a branch in a condition",
      () => [
        {
          id: "if",
          type: "condition",
          name: "If",
          config: {
            branches: [
              {
                id: "no",
                when: { left: "{{input.go}}", operator: "equals", right: "never" },
                steps: [mapping("out", 1)],
              },
            ],
            else: [parallel("par", { one: [repeat("each", { count: 2 }, [approval("ask")])] })],
          },
        },
      ],
      ["if.else.par.one.each[0].ask", "if.else.par.one.each[1].ask"],
    ],
  ];

  it.each(NESTED)(
    "asks again inside %s, and not with the same input",
    async (_what, steps, all) => {
      const { run: original, asked } = await firstRun([...steps(), mapping("last", 1)], {
        go: true,
      });
      expect(asked.toSorted()).toEqual(all);
      expect((await restart(original.id, "last", { go: true })).asked).toEqual([]);
      const effects = callsOf("inner");
      const again = await restart(original.id, "last", { n: 2 });
      expect(again.run.status).toBe(RunStatus.COMPLETED);
      expect(again.asked.toSorted()).toEqual(all);
      expect(callsOf("inner")).toBe(effects);
    },
  );

  it("asks behind a condition that was passed by when the amount was small", async () => {
    const steps = [
      {
        id: "large",
        type: "condition",
        name: "Large",
        config: {
          branches: [
            {
              id: "yes",
              when: { left: "{{input.amount}}", operator: "greater_than", right: 100 },
              steps: [approval("ask")],
            },
          ],
        },
      },
      approval(
        "skipped",
        {},
        {
          when: { left: "{{input.amount}}", operator: "greater_than", right: 100 },
        },
      ),
      mapping("pay", "{{input.amount}}"),
    ];
    const original = await firstRun(steps, { amount: 1 });
    expect(original).toMatchObject({ run: { status: RunStatus.COMPLETED }, asked: [] });
    const { run, asked } = await restart(original.run.id, "pay", { amount: 1_000 });
    expect(asked).toEqual(["large.yes.ask", "skipped"]);
    expect(outputOf(run)).toBe(1_000);
  });

  it("asks the run that repeats it no more once it was approved there", async () => {
    broken.add("/pay");
    const { run: original } = await firstRun([approval("ask"), call("pay")], { n: 1 });
    const second = await restart(original.id, "pay", { n: 2 });
    expect(second).toMatchObject({ run: { status: RunStatus.FAILED }, asked: ["ask"] });
    broken.clear();
    const third = await retry(second.run.id);
    expect(third).toMatchObject({ run: { status: RunStatus.COMPLETED }, asked: [] });
  });
});

describe("an approval behind a step that is done again", () => {
  it("is asked again with it, in the same block and behind the block", async () => {
    const { run: original } = await firstRun([
      parallel("par", {
        one: [call("a"), approval("inOne")],
        two: [call("b"), approval("inTwo")],
      }),
      approval("behind"),
      mapping("last", 1),
    ]);
    const { asked, run } = await restart(original.id, "par.one.a");
    // The other branch does not depend on this one.
    expect(asked).toEqual(["par.one.inOne", "behind"]);
    expect(run.status).toBe(RunStatus.COMPLETED);
  });

  it("is asked again when an approval before it was", async () => {
    const steps = [approval("one"), mapping("between", 1), approval("two"), mapping("last", 1)];
    const { run: original } = await firstRun(steps, { n: 1 });
    expect((await restart(original.id, "last", { n: 2 })).asked).toEqual(["one", "two"]);
  });
});
