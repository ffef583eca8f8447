import { describe, expect, it } from "@jest/globals";
import { actionStep, mappingStep, problemsOf, step, stepProblems } from "./definition.ts";

const UNKNOWN_TYPE = "type: is not a known step type";

/** Every problem begins with the expected text. */
function begin(...problems: string[]): unknown[] {
  return problems.map((problem) => expect.stringContaining(problem));
}

describe("a step whose type or config is none", () => {
  it("is told all of it at once", () => {
    expect(stepProblems({ id: "a", type: "nope", name: "", config: 1 })).toEqual(
      begin(
        "steps.0.name: must have at least 1",
        "steps.0.config: must be an object",
        `steps.0.${UNKNOWN_TYPE}`,
      ),
    );
    expect(stepProblems({ id: "a", type: "action", name: "a", action: "no.such" })).toEqual(
      begin("steps.0.config: is required", "steps.0.action: is not a known action"),
    );
  });

  it("does not hide its bad templates", () => {
    const config = { to: ["{{steps.gone.output}}"], text: "{{nope.x}}", one: "{{steps.a.output}}" };
    expect(stepProblems(step("nope", "a", config))).toEqual(
      begin(
        `steps.0.${UNKNOWN_TYPE}`,
        'steps.0.config.text: The template {{nope.x}} is not valid: unknown root "nope"',
        'steps.0.config.to.0: Step "a" refers to step "gone"',
        'steps.0.config.one: Step "a" refers to its own output',
      ),
    );
  });

  it("is not judged by the steps that it seems to hold", () => {
    const inner = [mappingStep("b", "{{loop.item}}"), mappingStep("c", "{{steps.b.output}}")];
    expect(stepProblems(step("each", "a", { body: { steps: inner } }))).toEqual(
      begin(`steps.0.${UNKNOWN_TYPE}`),
    );
  });
});

describe("one place is told once, with its most basic problem", () => {
  it.each<[string, object, string]>([
    [
      "a branch without a condition",
      step("condition", "a", { branches: [{ id: "x", steps: [] }] }),
      "config.branches.0.when: is required",
    ],
    ["an action that is a number", actionStep("a", "x", {}), "action: must be a string"],
    [
      "a bad id, used twice",
      step("loop", "a b", { count: 1, steps: [mappingStep("a b", 1)] }),
      "id: must be 1 to 128 letters",
    ],
  ])("%s", (_what, bad, problem) => {
    const changed = problem.startsWith("action") ? { ...bad, action: 5 } : bad;
    const found = stepProblems(changed);
    expect(found[0]).toContain(`steps.0.${problem}`);
    expect(new Set(found.map((each) => each.split(":")[0])).size).toBe(found.length);
  });

  it("an interval that is out of every bound", () => {
    const trigger = { type: "schedule", interval: { value: 1e18, unit: "weeks" } };
    expect(problemsOf({ trigger, steps: [] })).toEqual(begin("trigger.interval.value: must be"));
  });
});

describe("a JSON Schema that can't be used", () => {
  it.each<[object, string, RegExp]>([
    [{ properties: { a: { items: { $ref: "#/$defs/gone" } } } }, "properties.a.items.$ref", /gone/],
    [{ $id: "https://x.example/s", allOf: [{ $ref: "other" }] }, "allOf.0.$ref", /reference/],
    [{ properties: { a: { pattern: "(" } } }, "properties.a.pattern", /pattern/],
    [{ patternProperties: { "(?=x)": {} } }, "patternProperties.(?=x)", /look-around/],
    [{ properties: { pattern: { pattern: "[" } } }, "properties.pattern.pattern", /pattern/],
    [{ default: { $ref: "#/no" }, not: { $ref: "#/no" } }, "not.$ref", /reference/],
  ])("%j is told where it is wrong", (inputSchema, place, words) => {
    const [problem = "", ...others] = problemsOf({ steps: [], inputSchema });
    expect(others).toEqual([]);
    expect(problem.split(": ")[0]).toBe(`inputSchema.${place}`);
    expect(problem).toMatch(words);
  });

  it.each([
    { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    { $defs: { a: { $ref: "#/$defs/a" } }, properties: { x: { $ref: "#/$defs/a" } } },
  ])("%j says nothing of call stacks", (inputSchema) => {
    expect(problemsOf({ steps: [], inputSchema }).join()).not.toMatch(/call stack/i);
  });
});

describe("the roles of an approval (D10)", () => {
  const approval = (approvers: object) => step("approval", "a", { message: "ok?", approvers });

  it("are those of a company", () => {
    const roles = ["owner", "admin", "member", "viewer"];
    expect(stepProblems(approval({ roles }))).toEqual([]);
    expect(stepProblems(approval({ roles: ["owner", "king"], users: ["u"] }))).toEqual([
      'steps.0.config.approvers.roles.1: must be "owner", "admin", "member" or "viewer"',
    ]);
  });
});
