import { describe, expect, it } from "@jest/globals";
import {
  actionStep,
  conditionStep,
  forEachStep,
  httpStep,
  ifStep,
  loopStep,
  mappingStep,
  parallelStep,
  step,
} from "./definition.ts";
import { plan, planSteps, problemsOf, needsUrl, URL_PROBLEM, yes } from "./plan.ts";

describe("problems", () => {
  it("are those of the definition, with their paths", () => {
    const planned = planSteps([
      mappingStep("a", "{{steps.nope.output}}"),
      httpStep("b", { id: 5 }),
    ]);
    expect(problemsOf(planned)).toEqual([
      expect.stringContaining("steps.1.id: must be a string"),
      expect.stringContaining('steps.0.config.mapping: Step "a" refers to step "nope"'),
    ]);
    expect(planned.valid).toBe(false);
  });

  it("are those of the input, below `input`", () => {
    const inputSchema = {
      type: "object",
      required: ["n"],
      properties: { list: { type: "array", items: { type: "number" } } },
    };
    const planned = plan({ steps: [needsUrl("a")], inputSchema }, { list: [1, "x"] });
    expect(planned.problems.map(({ path }) => path)).toEqual([
      ["input", "n"],
      ["input", "list", "1"],
    ]);
  });

  it.each<[string, object[], Record<string, unknown>, string]>([
    [
      "a value of the wrong type",
      [needsUrl("a")],
      { url: 5 },
      "0.config.url: must be a string, not",
    ],
    ["a missing value", [needsUrl("a")], {}, `0.${URL_PROBLEM}`],
    [
      "a value out of bounds",
      [step("delay", "d", { durationMs: "{{input.ms}}" })],
      { ms: -1 },
      "0.config.durationMs: must be at least 0",
    ],
    [
      "a loop over no array",
      [loopStep("l", [mappingStep("m", 1)])],
      { list: 5 },
      "0.config.items: must be an array, not a number",
    ],
    [
      "too many iterations",
      [loopStep("l", [mappingStep("m", 1)], { count: "{{input.n}}" })],
      { n: 1e9 },
      "0.config.count: is more than maxIterations",
    ],
    ["when its condition holds", [needsUrl("a", { when: yes })], { yes: 1 }, `0.${URL_PROBLEM}`],
    [
      "in the branch that is taken",
      [conditionStep("c", [[mappingStep("m", 1)]], [needsUrl("a")])],
      {},
      `0.config.else.0.${URL_PROBLEM}`,
    ],
    [
      "in a parallel branch",
      [parallelStep("p", [[mappingStep("m", 1)], [needsUrl("a")]])],
      {},
      `0.config.branches.1.steps.0.${URL_PROBLEM}`,
    ],
    [
      "in a loop that goes round",
      [loopStep("l", [needsUrl("a")])],
      { list: [1] },
      `0.config.steps.0.${URL_PROBLEM}`,
    ],
    [
      "in forEach with items",
      [forEachStep("f", [needsUrl("a")])],
      { list: [1] },
      `0.config.steps.0.${URL_PROBLEM}`,
    ],
    [
      "templates over 1 MiB",
      [mappingStep("m", ["{{input.big}}", "{{input.big}}"])],
      { big: "x".repeat(700_000) },
      "0.config: The value of the templates is larger than 1 MiB.",
    ],
  ])("are what is sure to fail with this input: %s", (_, steps, input, problem) => {
    expect(problemsOf(planSteps(steps, input))).toEqual([
      expect.stringContaining(`steps.${problem}`),
    ]);
  });

  it.each<[string, object[], Record<string, unknown>]>([
    ["all that it needs is there", [needsUrl("a")], { url: "https://x.y" }],
    ["it is skipped", [needsUrl("a", { when: yes })], {}],
    [
      "whether it runs depends on an earlier step",
      [
        mappingStep("m", 1),
        needsUrl("a", { when: { left: "{{steps.m.output}}", operator: "exists" } }),
      ],
      {},
    ],
    ["its branch is not taken", [conditionStep("c", [[needsUrl("a")]])], {}],
    [
      "its branch may not be taken",
      [mappingStep("m", 1), ifStep("c", "{{steps.m.output}}", [needsUrl("a")], [needsUrl("b")])],
      {},
    ],
    ["the run goes on without it", [needsUrl("a", { onError: "continue" })], {}],
    [
      "the run goes on without what holds it",
      [step("loop", "l", { count: 1, steps: [needsUrl("a")] }, { onError: "continue" })],
      {},
    ],
    ["the loop does not go round", [loopStep("l", [needsUrl("a")])], { list: [] }],
    [
      "any branch will do",
      [step("parallel", "p", { strategy: "wait-any", branches: [{ steps: [needsUrl("a")] }] })],
      {},
    ],
    [
      "the run has ended before",
      [actionStep("r", "workflow.respond", { output: "{{input.nope}}" }), needsUrl("a")],
      {},
    ],
    [
      "what is missing may be left out",
      [
        httpStep("a", {
          config: {
            method: "GET",
            url: "https://x.y",
            headers: "{{input.h}}",
            body: "{{input.b}}",
          },
        }),
        mappingStep("m", "{{input.nope}}"),
        actionStep("j", "json.stringify", { value: "{{input.nope}}", indent: "{{input.i}}" }),
      ],
      {},
    ],
  ])("there are none where %s", (_, steps, input) => {
    const { problems, valid } = planSteps(steps, input);
    expect(problems).toEqual([]);
    expect(valid).toBe(true);
  });
});
