import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { expression, outputOf, resultsOf, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

const runSteps = async (steps: readonly unknown[]) => harness.runToEnd(await harness.deploy(steps));

/** A tail call, which needs no stack and so never ends by itself. */
const ENDLESS = "($f := function($n) { $f($n + 1) }; $f(0))";

describe("a hostile expression", () => {
  it.each([
    ["an endless loop", ENDLESS],
    ["a catastrophic pattern", `$match("${"a".repeat(40)}!", /^(a+)+$/)`],
  ])("with %s ends with EXPRESSION_TIMEOUT while other runs go on", async (_kind, text) => {
    const hostile = await harness.deploy([expression("hostile", text)]);
    const good = await harness.deploy([expression("good", "1 + 1")]);
    const runIds = await Promise.all(Array.from({ length: 2 }, () => harness.start(hostile)));
    const others = await Promise.all(Array.from({ length: 20 }, () => harness.runToEnd(good)));
    expect(others.map(outputOf)).toEqual(others.map(() => 2));
    for (const runId of runIds) {
      const run = await harness.waitForEnd(runId);
      expect(run).toMatchObject({
        status: RunStatus.FAILED,
        error: { code: "EXPRESSION_TIMEOUT" },
      });
    }
  });

  it.each([
    ["recursion without an end", "($f := function($n) { 1 + $f($n + 1) }; $f(0))"],
    ["a list that doubles for ever", "($f := function($l) { $f($append($l, $l)) }; $f([1..1000]))"],
    ["a text that doubles for ever", '($f := function($t) { $f($t & $t) }; $f("xxxxxxxx"))'],
    ["a wide text", '$pad("", 500000000, "ab")'],
  ])("with %s fails its run only", async (_kind, text) => {
    const run = await runSteps([expression("bomb", text)]);
    expect(run.status).toBe(RunStatus.FAILED);
    expect(["EXPRESSION_MEMORY", "EXPRESSION_TIMEOUT", "EXPRESSION_FAILED"]).toContain(
      run.error?.code,
    );
    expect(outputOf(await runSteps([expression("good", "1 + 1")]))).toBe(2);
  });

  it("keeps to its step's timeout", async () => {
    const run = await runSteps([expression("loop", ENDLESS, { timeoutMs: 100 })]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "TIMEOUT" } });
  });

  it("that nests its result too deep fails", async () => {
    const nesting =
      "($f := function($v, $n) { $n = 0 ? $v : $f({ 'v': $v }, $n - 1) }; $f(1, 3000))";
    const run = await runSteps([expression("deep", nesting)]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "EXPRESSION_FAILED" } });
  });

  it("that puts NUL into its error fails with a message that can be stored", async () => {
    const run = await runSteps([expression("bad", '$error("a\\u0000b\\ud800c")')]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "EXPRESSION_FAILED" } });
    expect(run.error?.message).toContain("a\uFFFDb\uFFFDc");
  });

  it("sees neither the process nor what other expressions left behind", async () => {
    await runSteps([expression("pollute", '{"a": 1} ~> |$|{"__proto__": {"polluted": 1}}|')]);
    const texts = [
      "$exists(polluted)",
      "$exists({}.polluted)",
      "$exists({}.constructor)",
      "$exists($.__proto__)",
      '$exists($lookup({}, "constructor"))',
      "$exists($process) or $exists(process)",
    ];
    const run = await runSteps(texts.map((text, index) => expression(`t${index}`, text)));
    expect(resultsOf(run).map(({ output }) => output)).toEqual(texts.map(() => false));
  });
});
