import { describe, expect, it } from "@jest/globals";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { waitFor } from "@workflow/testkit";
import { approval, forEach, mapping, outputOf, parallel, repeat } from "./support/runs-harness.ts";
import { reusedIn, useRepeats } from "./support/repeated-runs.ts";

const bench = useRepeats();
const { call, callsOf, firstRun, retry, restart } = bench;

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
    expect((await bench.approvalsOf(run.id))[0]?.message).toBe("Pay 1000?");
    expect(reusedIn(run)).toEqual(["first", "done"]);
    expect(callsOf("done")).toBe(before);
    expect([run.status, outputOf(run)]).toEqual([RunStatus.COMPLETED, 1_000]);
  });

  it("does nothing more when the approval is now refused", async () => {
    const { run: original } = await firstRun([approval("ask"), call("never")], { n: 1 });
    const before = callsOf("never");
    const { run } = await bench.harness.runs.restartRun(
      { runId: original.id, fromStepId: "never", overrideInputJson: '{"n":2}' },
      { identity: bench.harness.identity },
    );
    const runId = run?.id ?? "";
    const [waiting] = await waitFor(async () => {
      const found = await bench.approvalsOf(runId);
      return found.length > 0 ? found : null;
    });
    const decision = ApprovalStatus.REJECTED;
    const request = { runId, approvalId: waiting?.id ?? "", decision };
    await bench.harness.approvals.decideApproval(request, { identity: bench.harness.identity });
    expect((await bench.harness.waitForEnd(runId)).status).toBe(RunStatus.FAILED);
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
    bench.broken.add("/pay");
    const { run: original } = await firstRun([approval("ask"), call("pay")], { n: 1 });
    const second = await restart(original.id, "pay", { n: 2 });
    expect(second).toMatchObject({ run: { status: RunStatus.FAILED }, asked: ["ask"] });
    bench.broken.clear();
    const third = await retry(second.run.id);
    expect(third).toMatchObject({ run: { status: RunStatus.COMPLETED }, asked: [] });
  });
});
