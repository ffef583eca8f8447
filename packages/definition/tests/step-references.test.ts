import { describe, expect, it } from "@jest/globals";
import { conditionStep, httpStep, ifStep, mappingStep, stepProblems } from "./definition.ts";

describe("a reference to a step that has run is fine", () => {
  it.each<[string, object[]]>([
    ["an earlier step", [mappingStep("a", 1), mappingStep("b", "{{steps.a.output}}")]],
    [
      "an earlier step, from a branch",
      [mappingStep("a", 1), conditionStep("c", [[mappingStep("b", "{{steps.a.output}}")]])],
    ],
    [
      "an earlier step of the same branch",
      [conditionStep("c", [[mappingStep("a", 1), mappingStep("b", "{{steps.a.output}}")]])],
    ],
    [
      "a step inside a branch, from after the condition",
      [conditionStep("c", [[mappingStep("a", 1)]]), mappingStep("b", "{{steps.a.output}}")],
    ],
    [
      "a step inside else, from after the condition",
      [conditionStep("c", [[]], [mappingStep("a", 1)]), mappingStep("b", "{{steps.a.output}}")],
    ],
    [
      "a condition, from after it",
      [conditionStep("c", [[]]), mappingStep("b", "{{steps.c.output.branch}}")],
    ],
    [
      "a step of an earlier condition, from a branch of a later one",
      [
        conditionStep("c", [[mappingStep("a", 1)]]),
        conditionStep("d", [[mappingStep("b", "{{steps.a.output}}")]]),
      ],
    ],
  ])("%s", (_, steps) => {
    expect(stepProblems(...steps)).toEqual([]);
  });
});

describe("a reference to a step that can't have run names both steps and the field", () => {
  it.each<[string, object[], string]>([
    [
      "nonexistent",
      [mappingStep("a", { x: ["{{steps.nope.output}}"] })],
      'steps.0.config.mapping.x.0: Step "a" refers to step "nope", which does not exist.',
    ],
    [
      "itself",
      [mappingStep("a", "{{steps.a.output}}")],
      'steps.0.config.mapping: Step "a" refers to its own output, which is not there before it has run.',
    ],
    [
      "later",
      [mappingStep("a", "{{steps.b.output}}"), mappingStep("b", 1)],
      'steps.0.config.mapping: Step "a" refers to step "b", which runs later.',
    ],
    [
      "later, into a branch",
      [mappingStep("a", "{{steps.b.output}}"), conditionStep("c", [[mappingStep("b", 1)]])],
      'steps.0.config.mapping: Step "a" refers to step "b", which runs later.',
    ],
    [
      "sibling branch",
      [conditionStep("c", [[mappingStep("a", 1)], [mappingStep("b", "{{steps.a.output}}")]])],
      'steps.0.config.branches.1.steps.0.config.mapping: Step "b" refers to step "a", which is in another branch of "c" and does not run with it.',
    ],
    [
      "else, from a branch",
      [conditionStep("c", [[mappingStep("b", "{{steps.a.output}}")]], [mappingStep("a", 1)])],
      'steps.0.config.branches.0.steps.0.config.mapping: Step "b" refers to step "a", which is in another branch of "c" and does not run with it.',
    ],
    [
      "sibling branch, nested deeper",
      [
        conditionStep("c", [
          [conditionStep("d", [[mappingStep("a", 1)]])],
          [conditionStep("e", [[mappingStep("b", "{{steps.a.output}}")]])],
        ]),
      ],
      'steps.0.config.branches.1.steps.0.config.branches.0.steps.0.config.mapping: Step "b" refers to step "a", which is in another branch of "c" and does not run with it.',
    ],
    [
      "holder",
      [conditionStep("c", [[mappingStep("b", "{{steps.c.output}}")]])],
      'steps.0.config.branches.0.steps.0.config.mapping: Step "b" refers to step "c", which holds it and has not ended by then.',
    ],
    [
      "in when",
      [httpStep("a", { when: { left: "{{steps.nope.output}}", operator: "exists" } })],
      'steps.0.when.left: Step "a" refers to step "nope", which does not exist.',
    ],
    [
      "in a header",
      [
        httpStep("a", {
          config: {
            method: "GET",
            url: "https://x.y",
            headers: { h: "{{ steps['nope'].output }}" },
          },
        }),
      ],
      'steps.0.config.headers.h: Step "a" refers to step "nope", which does not exist.',
    ],
    [
      "prototype name",
      [mappingStep("a", "{{steps.constructor.output}}")],
      'steps.0.config.mapping: Step "a" refers to step "constructor", which does not exist.',
    ],
    [
      "loop outside a loop",
      [mappingStep("a", "{{loop.item}}")],
      'steps.0.config.mapping: Step "a" refers to loop, which has a value only inside a loop.',
    ],
  ])("%s", (_, steps, problem) => {
    expect(stepProblems(...steps)).toEqual([problem]);
  });

  it("a condition's own test can't use its branches", () => {
    const step = ifStep("c", "{{steps.a.output}}", [mappingStep("a", 1)]);
    expect(stepProblems(step)).toEqual([
      'steps.0.config.if.left: Step "c" refers to step "a", which runs later.',
    ]);
  });

  it("text that only looks like a template in JSONata or in a name is left alone", () => {
    const step = {
      id: "a",
      type: "transform",
      name: "{{steps.nope}}",
      config: { expression: '"{{steps.nope.output}}"' },
    };
    expect(stepProblems(step)).toEqual([]);
  });
});
