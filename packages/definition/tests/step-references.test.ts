import { describe, expect, it } from "@jest/globals";
import {
  conditionStep,
  forEachStep,
  httpStep,
  ifStep,
  loopStep,
  mappingStep,
  parallelStep,
  step,
  stepProblems,
} from "./definition.ts";

const a = "{{steps.a.output}}";

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
    [
      "a step inside a loop, from after it (D16)",
      [loopStep("l", [mappingStep("a", 1)]), mappingStep("b", a)],
    ],
    [
      "a step inside a loop, from later in the same iteration",
      [loopStep("l", [mappingStep("a", 1), mappingStep("b", a)])],
    ],
    [
      "an earlier step, from a loop in a branch of a parallel step",
      [mappingStep("a", 1), parallelStep("p", [[loopStep("l", [mappingStep("b", a)])]])],
    ],
    [
      "an earlier step of the loop around a parallel step",
      [loopStep("l", [mappingStep("a", 1), parallelStep("p", [[mappingStep("b", a)]])])],
    ],
    [
      "a step inside a parallel branch, from after the step",
      [parallelStep("p", [[mappingStep("a", 1)], [mappingStep("c", 1)]]), mappingStep("b", a)],
    ],
    [
      "a step inside forEach, from after it",
      [forEachStep("p", [mappingStep("a", 1)]), mappingStep("b", a)],
    ],
    [
      "a step of the body, from the loop's while",
      [loopStep("l", [mappingStep("a", 1)], { while: { left: a, operator: "exists" } })],
    ],
    [
      "a step nested in the body, from the loop's while",
      [
        loopStep("l", [conditionStep("c", [[mappingStep("a", 1)]])], {
          while: { not: { left: a, operator: "equals", right: "{{loop.index}}" } },
        }),
      ],
    ],
    [
      "a step before the loop, from its items",
      [mappingStep("a", []), loopStep("l", [mappingStep("b", "{{loop.item}}")], { items: a })],
    ],
    [
      "the item of the loop around, from the items of the loop inside",
      [loopStep("l", [loopStep("m", [mappingStep("b", 1)], { items: "{{loop.item}}" })])],
    ],
    [
      "the item, from a condition and a parallel branch inside the loop",
      [
        loopStep("l", [
          conditionStep("c", [[parallelStep("p", [[mappingStep("b", "{{loop.item.x}}")]])]]),
        ]),
      ],
    ],
    [
      "the item, from inside forEach and from a step's when there",
      [
        forEachStep("p", [
          mappingStep("b", "{{loop.index}}", {
            when: { left: "{{loop.item}}", operator: "exists" },
          }),
        ]),
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
      'steps.0.config.mapping: Step "a" refers to step "b", which runs later; put it before this one.',
    ],
    [
      "later, into a branch",
      [mappingStep("a", "{{steps.b.output}}"), conditionStep("c", [[mappingStep("b", 1)]])],
      'steps.0.config.mapping: Step "a" refers to step "b", which runs later; put it before this one.',
    ],
    [
      "sibling branch",
      [conditionStep("c", [[mappingStep("a", 1)], [mappingStep("b", "{{steps.a.output}}")]])],
      'steps.0.config.branches.1.steps.0.config.mapping: Step "b" refers to step "a", which is in another branch of "c" and does not run with it; refer to it from after "c".',
    ],
    [
      "else, from a branch",
      [conditionStep("c", [[mappingStep("b", "{{steps.a.output}}")]], [mappingStep("a", 1)])],
      'steps.0.config.branches.0.steps.0.config.mapping: Step "b" refers to step "a", which is in another branch of "c" and does not run with it; refer to it from after "c".',
    ],
    [
      "sibling branch, nested deeper",
      [
        conditionStep("c", [
          [conditionStep("d", [[mappingStep("a", 1)]])],
          [conditionStep("e", [[mappingStep("b", "{{steps.a.output}}")]])],
        ]),
      ],
      'steps.0.config.branches.1.steps.0.config.branches.0.steps.0.config.mapping: Step "b" refers to step "a", which is in another branch of "c" and does not run with it; refer to it from after "c".',
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
      'steps.0.config.mapping: Step "a" refers to loop, which has a value only inside a loop or a parallel with forEach.',
    ],
    [
      "sibling branch of a parallel step",
      [parallelStep("p", [[mappingStep("a", 1)], [mappingStep("b", a)]])],
      'steps.0.config.branches.1.steps.0.config.mapping: Step "b" refers to step "a", which is in another branch of "p" and does not run with it; refer to it from after "p".',
    ],
    [
      "sibling branch of a parallel step inside a loop",
      [
        loopStep("l", [
          parallelStep("p", [[mappingStep("a", 1)], [loopStep("m", [mappingStep("b", a)])]]),
        ]),
      ],
      'steps.0.config.steps.0.config.branches.1.steps.0.config.steps.0.config.mapping: Step "b" refers to step "a", which is in another branch of "p" and does not run with it; refer to it from after "p".',
    ],
    [
      "later in the body of the same loop",
      [loopStep("l", [mappingStep("b", a), mappingStep("a", 1)])],
      'steps.0.config.steps.0.config.mapping: Step "b" refers to step "a", which runs later; put it before this one.',
    ],
    [
      "own body, from a loop's items",
      [loopStep("l", [mappingStep("a", 1)], { items: a })],
      'steps.0.config.items: Step "l" refers to step "a", which it holds and which runs only after this is known.',
    ],
    [
      "own body, from a loop's count",
      [loopStep("l", [mappingStep("a", 1)], { count: a })],
      'steps.0.config.count: Step "l" refers to step "a", which it holds and which runs only after this is known.',
    ],
    [
      "own body, from a forEach",
      [forEachStep("p", [mappingStep("a", 1)], a)],
      'steps.0.config.forEach: Step "p" refers to step "a", which it holds and which runs only after this is known.',
    ],
    [
      "own body, from the when of the loop",
      [
        step(
          "loop",
          "l",
          { count: 2, steps: [mappingStep("a", 1)] },
          { when: { left: a, operator: "exists" } },
        ),
      ],
      'steps.0.when.left: Step "l" refers to step "a", which it holds and which runs only after this is known.',
    ],
    [
      "the loop around it",
      [loopStep("l", [mappingStep("b", "{{steps.l.output}}")])],
      'steps.0.config.steps.0.config.mapping: Step "b" refers to step "l", which holds it and has not ended by then.',
    ],
    [
      "itself, from a loop's while",
      [
        loopStep("l", [mappingStep("b", 1)], {
          while: { left: "{{steps.l.output}}", operator: "exists" },
        }),
      ],
      'steps.0.config.while.left: Step "l" refers to its own output, which is not there before it has run.',
    ],
    [
      "after the loop, from its while",
      [
        loopStep("l", [mappingStep("b", 1)], { while: { left: a, operator: "exists" } }),
        mappingStep("a", 1),
      ],
      'steps.0.config.while.left: Step "l" refers to step "a", which runs later; put it before this one.',
    ],
    [
      "loop, from the items of the outermost loop",
      [loopStep("l", [mappingStep("b", 1)], { items: "{{loop.item}}" })],
      'steps.0.config.items: Step "l" refers to loop, which has a value only inside a loop or a parallel with forEach.',
    ],
    [
      "loop, from a parallel branch",
      [parallelStep("p", [[mappingStep("b", "{{loop.item}}")]])],
      'steps.0.config.branches.0.steps.0.config.mapping: Step "b" refers to loop, which has a value only inside a loop or a parallel with forEach.',
    ],
    [
      "loop, after the loop",
      [loopStep("l", [mappingStep("a", 1)]), mappingStep("b", "{{loop.index}}")],
      'steps.1.config.mapping: Step "b" refers to loop, which has a value only inside a loop or a parallel with forEach.',
    ],
    [
      "__proto__",
      [mappingStep("b", "{{steps.__proto__.output}}")],
      'steps.0.config.mapping: Step "b" refers to step "__proto__", which does not exist.',
    ],
  ])("%s", (_, steps, problem) => {
    expect(stepProblems(...steps)).toEqual([problem]);
  });

  it("every template of every type of step is looked at", () => {
    const nowhere = "{{steps.nope.output}}";
    const problems = stepProblems(
      step("email", "s1", { to: nowhere, cc: [nowhere], subject: nowhere, text: nowhere }),
      step("email", "s2", { to: "a@b.c", subject: "s", html: nowhere, replyTo: nowhere }),
      step("agent", "s3", { agentId: nowhere, input: { x: [nowhere] }, userMessage: nowhere }),
      step("agent", "s4", { agentId: "a", input: nowhere, overrides: { model: nowhere } }),
      step("workflow", "s5", { workflowId: nowhere, input: { x: nowhere } }),
      step("approval", "s6", { message: nowhere }),
      loopStep("s7", [mappingStep("x7", 1)], { count: nowhere }),
      forEachStep("s8", [mappingStep("x8", 1)], [nowhere]),
      step("delay", "s9", { until: nowhere }),
    );
    expect(problems.map((problem) => problem.split(":")[0])).toEqual([
      "steps.0.config.to",
      "steps.0.config.cc.0",
      "steps.0.config.subject",
      "steps.0.config.text",
      "steps.1.config.replyTo",
      "steps.1.config.html",
      "steps.2.config.agentId",
      "steps.2.config.input.x.0",
      "steps.2.config.userMessage",
      "steps.3.config.input",
      "steps.3.config.overrides.model",
      "steps.4.config.workflowId",
      "steps.4.config.input.x",
      "steps.5.config.message",
      "steps.6.config.count",
      "steps.7.config.forEach.0",
      "steps.8.config.until",
    ]);
  });

  it("a condition's own test can't use its branches", () => {
    const step = ifStep("c", "{{steps.a.output}}", [mappingStep("a", 1)]);
    expect(stepProblems(step)).toEqual([
      'steps.0.config.if.left: Step "c" refers to step "a", which it holds and which runs only after this is known.',
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
