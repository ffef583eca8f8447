import { afterAll, describe, expect, it } from "@jest/globals";
import { createExpressionPool } from "@workflow/expressions";
import { expressionProblems, loopStep, mappingStep, step, stepProblems } from "./definition.ts";

const expression = (id: string, text: string, over: object = {}) =>
  step("transform", id, { expression: text, ...over });

describe("templates", () => {
  it("read of run and loop only what they have (D19)", () => {
    const known = ["id", "workflowId", "version", "startedAt"].map((name) => `{{run.${name}}}`);
    const steps = [
      mappingStep("a", [...known, "{{run}}"]),
      loopStep("l", [mappingStep("b", ["{{loop.item.any}}", "{{loop.index}}", "{{loop}}"])]),
    ];
    expect(stepProblems(...steps)).toEqual([]);
    expect(
      stepProblems(
        mappingStep("a", "{{run.foo}}"),
        loopStep("l", [mappingStep("b", "{{loop.i}}")]),
      ),
    ).toEqual([
      'steps.0.config.mapping: Step "a" refers to run.foo, which does not exist; run has id, workflowId, version and startedAt.',
      'steps.1.config.steps.0.config.mapping: Step "b" refers to loop.i, which does not exist; loop has item and index.',
    ]);
  });

  it("name secrets by keys that a secret can have", () => {
    expect(stepProblems(mappingStep("a", "{{secrets.API_KEY2}}"))).toEqual([]);
    expect(stepProblems(mappingStep("a", "{{secrets.lower}}"))).toEqual([
      'steps.0.config.mapping: Step "a" refers to the secret "lower", but its key must be upper snake case and start with a letter.',
    ]);
  });
});

const pool = createExpressionPool();
afterAll(() => pool.close());

describe("JSONata", () => {
  it.each([
    "steps.before.output + steps.`before`.output",
    "$sum(steps.before.output.(steps.gone))",
    "input.steps.gone",
    "items[steps.gone]",
    "steps.*",
    "steps",
    "$lookup(steps, 'gone')",
    "run.id & $string(trigger.x) & $$.steps.before.output",
  ])("reads steps that have run: %s", async (text) => {
    expect(await expressionProblems(pool, mappingStep("before", 1), expression("a", text))).toEqual(
      [],
    );
  });

  it.each([
    "steps.gone.output",
    "$sum(steps.gone.output.(price * quantity))",
    "steps.`gone`.output ~> $sum",
    "input.x.($$.steps.gone)",
    "$.steps.gone",
    '{"x": [1, input.go ? steps.gone : 2]}',
    "$map(input.list, function($i) { $i + steps.gone.output })",
    "($x := steps.gone; $x)",
  ])("is refused where it reads one that is not there: %s", async (text) => {
    expect(await expressionProblems(pool, expression("a", text))).toEqual([
      'steps.0.config.expression: Step "a" refers to step "gone", which does not exist.',
    ]);
  });

  it("is refused where it reads what comes later, what run has not, or a loop outside of one", async () => {
    const steps = [
      expression("a", "steps.b.output"),
      expression("b", "run.foo"),
      expression("c", "loop.item"),
    ];
    expect(await expressionProblems(pool, ...steps)).toEqual([
      expect.stringContaining('Step "a" refers to step "b", which runs later'),
      expect.stringContaining('Step "b" refers to run.foo'),
      expect.stringContaining('Step "c" refers to loop, which has a value only inside'),
    ]);
  });

  it("never sees secrets, and says so", async () => {
    expect(await expressionProblems(pool, expression("a", '"Bearer " & secrets.S3'))).toEqual([
      "steps.0.config.expression: does not see secrets; give it what it needs as input, as in {{secrets.KEY}}",
    ]);
  });

  it("with an input of its own sees nothing else", async () => {
    const input = { steps: 1, secrets: "{{secrets.S3}}" };
    expect(
      await expressionProblems(pool, expression("a", "steps.gone & secrets.S3", { input })),
    ).toEqual([]);
  });

  it.each([
    ["a + ", "is not valid JSONata at character 4"],
    ["(".repeat(10_000), "is not valid JSONata: it nests too deeply"],
  ])("that can't be parsed is refused with its place: %.10s", async (text, problem) => {
    expect(await expressionProblems(pool, expression("a", text))).toEqual([
      expect.stringContaining(`steps.0.config.expression: ${problem}`),
    ]);
  });
});
