import { describe, expect, it } from "@jest/globals";
import { compileDefinition, validateDefinition } from "../src/index.ts";
import { loopStep, mappingStep, parallelStep, step } from "./definition.ts";

const trigger = { type: "api" };
const isDraft = (...steps: object[]): boolean =>
  validateDefinition({ trigger, steps }, { mayBeUnfinished: true }).ok;
const isExecutable = (...steps: object[]): boolean => validateDefinition({ trigger, steps }).ok;

describe("a definition that may be unfinished", () => {
  it.each([
    ["a loop without steps", loopStep("loop", [])],
    ["a parallel without branches", parallelStep("par", [])],
    ["a branch without steps", parallelStep("par", [[], [mappingStep("a", 1)]])],
    ["forEach without steps", step("parallel", "par", { forEach: "{{input.list}}", steps: [] })],
    ["an empty loop in a branch", parallelStep("par", [[loopStep("loop", [])]])],
  ])("has %s, which can't be executed", (_what, unfinished) => {
    expect(isDraft(unfinished, mappingStep("z", 1))).toBe(true);
    expect(isExecutable(unfinished, mappingStep("z", 1))).toBe(false);
    // No trigger starts a draft, but its readers must accept it.
    expect(() => compileDefinition({ trigger, steps: [unfinished] })).not.toThrow();
  });

  it.each([
    ["a loop over nothing", step("loop", "loop", { steps: [] })],
    ["a loop whose steps are missing", step("loop", "loop", { count: 1 })],
    ["a parallel of both kinds", step("parallel", "par", { branches: [], forEach: [] })],
    ["a parallel of neither kind", step("parallel", "par", {})],
    ["a strategy that does not exist", step("parallel", "par", { branches: [], strategy: "x" })],
    ["a step that is not there", mappingStep("a", "{{steps.gone.output}}")],
  ])("still has no %s", (_what, wrong) => {
    expect(isDraft(wrong)).toBe(false);
  });
});
