import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createActive, runToEnd, transform } from "../support/scenarios.ts";
import type { Run } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

async function run(steps: unknown[], input: unknown = {}): Promise<Run> {
  return runToEnd(system, await createActive(system, { steps }), input);
}

describe("templates", () => {
  it("keep the type of what they stand for alone and become text within a longer string (D19)", async () => {
    const { output } = await run(
      [
        transform("one", { n: 5, list: [1, { a: "x" }] }),
        transform("two", {
          number: "{{steps.one.output.n}}",
          item: '{{ steps.one.output.list[1]["a"] }}',
          text: "n={{steps.one.output.n}} list={{steps.one.output.list}} gone={{input.no.such}}.",
          missing: "{{input.no.such}}",
          whole: "{{input}}",
        }),
      ],
      { a: [null] },
    );
    expect(output).toEqual({
      number: 5,
      item: "x",
      text: 'n=5 list=[1,{"a":"x"}] gone=.',
      missing: null,
      whole: { a: [null] },
    });
  });

  it("are evaluated once: what a caller sends is never a template", async () => {
    const trap = "{{run.id}} {{secrets.KEY}} {{constructor}}";
    const { output } = await run([transform("out", { echo: "{{input.x}}!" })], { x: trap });
    expect(output).toEqual({ echo: `${trap}!` });
  });

  it("see own properties only", async () => {
    const { output } = await run(
      [
        transform("out", {
          a: "{{input.constructor}}",
          b: "{{input.__proto__}}",
          c: "{{input.list.length}}",
          d: "{{input.text.length}}",
        }),
      ],
      { list: [1, 2], text: "abc" },
    );
    expect(output).toMatchObject({ a: null, b: null, d: null });
  });

  it("know the run (D19)", async () => {
    const ended = await run([
      transform("out", {
        id: "{{run.id}}",
        of: "{{run.workflowId}}",
        v: "{{run.version}}",
        at: "{{run.startedAt}}",
      }),
    ]);
    expect(ended.output).toEqual({ id: ended.id, of: ended.workflowId, v: 1, at: ended.startedAt });
  });

  it("that grow beyond 1 MiB fail the step, however small the definition is (D19)", async () => {
    const steps = [transform("s0", "x".repeat(1_000))];
    for (let n = 1; n <= 20; n += 1) {
      const previous = `{{steps.s${n - 1}.output}}`;
      steps.push(transform(`s${n}`, [previous, previous]));
    }
    const ended = await run(steps);
    expect(ended).toMatchObject({ status: "failed", error: { code: "TEMPLATE_TOO_LARGE" } });
  });
});

describe("an expression", () => {
  const expressionStep = (expression: string) => ({
    id: "e",
    type: "transform",
    name: "e",
    config: { expression },
  });

  it("computes over everything it knows (D17)", async () => {
    const expression = "{ 'total': $sum(input.lines.price), 'first': steps.one.output.a }";
    const ended = await run([transform("one", { a: 1 }), expressionStep(expression)], {
      lines: [{ price: 1.5 }, { price: 2 }],
    });
    expect(ended.output).toEqual({ total: 3.5, first: 1 });
  });

  it.each([
    ["for ever", "($f := function($x){$f($x)}; $f(1))", "EXPRESSION_TIMEOUT"],
    ["into an error", "$number('no number')", "EXPRESSION_FAILED"],
  ])("that runs %s fails its own step only", async (_how, expression, code) => {
    const broken = await createActive(system, { steps: [expressionStep(expression)] });
    const fine = await createActive(system, { steps: [expressionStep("input.n + 1")] });
    const [failed, completed] = await Promise.all([
      runToEnd(system, broken),
      runToEnd(system, fine, { n: 1 }),
    ]);
    expect(failed).toMatchObject({ status: "failed", error: { code } });
    expect(completed).toMatchObject({ status: "completed", output: 2 });
  });

  it("cannot make text that is not storable", async () => {
    const ended = await run([expressionStep('"a\\u0000b"')]);
    expect(ended).toMatchObject({ status: "completed", output: "a\ufffdb" });
  });
});
