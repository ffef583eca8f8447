import { describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { approval, mapping, parallel, repeat } from "./support/runs-harness.ts";
import { reusedIn, useRepeats } from "./support/repeated-runs.ts";

const bench = useRepeats();
const { call, firstRun, retry, restart } = bench;

describe("a retry", () => {
  it("does not ask again what was approved before the step that failed", async () => {
    bench.broken.add("/pay");
    const steps = [mapping("before", 1), approval("ask"), call("pay"), mapping("after", 2)];
    const failed = await firstRun(steps);
    expect(failed).toMatchObject({ run: { status: RunStatus.FAILED }, asked: ["ask"] });
    bench.broken.clear();
    const { run, asked } = await retry(failed.run.id);
    expect(asked).toEqual([]);
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(reusedIn(run)).toEqual(["before", "ask"]);
  });

  it("takes over that nobody decided in time where that means approved", async () => {
    bench.broken.add("/pay");
    const steps = [approval("ask", { timeoutMs: 1, onTimeout: "approve" }), call("pay")];
    const failed = await bench.harness.runToEnd(await bench.harness.deploy(steps));
    expect(failed.status).toBe(RunStatus.FAILED);
    bench.broken.clear();
    const { run, asked } = await retry(failed.id);
    expect([run.status, asked]).toEqual([RunStatus.COMPLETED, []]);
  });

  it("takes over an approval inside the branch that failed behind it", async () => {
    bench.broken.add("/pay");
    const steps = [
      parallel("par", { left: [approval("l1"), call("pay")], right: [approval("r1")] }),
      mapping("after", 1),
    ];
    const failed = await firstRun(steps);
    bench.broken.clear();
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
