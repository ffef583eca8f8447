import { describe, expect, it } from "@jest/globals";
import { conditionStep, httpStep, ifStep, problemsOf, stepProblems } from "./definition.ts";

describe("steps", () => {
  it.each<[unknown, string]>([
    [undefined, "steps: must be an array of steps"],
    [{}, "steps: must be an array of steps"],
    [[null], "steps.0: must be an object, not null"],
    [["x"], "steps.0: must be an object, not a string"],
    [[httpStep("a"), [httpStep("b")]], "steps.1: must be an object, not an array"],
    [[httpStep("a", { id: undefined })], "steps.0.id: is required and must be a string"],
    [[httpStep("a b")], "steps.0.id: must be 1 to 128 letters"],
    [[httpStep("x".repeat(129))], "steps.0.id: must be 1 to 128 letters"],
    [[httpStep("a", { name: undefined })], "steps.0.name: is required and must be a string"],
    [[httpStep("a", { name: "" })], "steps.0.name: must have at least 1 character"],
    [[httpStep("a", { name: "n".repeat(256) })], "steps.0.name: must have at most 255 characters"],
    [[httpStep("a", { type: undefined })], "steps.0.type: is required and must be a string"],
    [
      [httpStep("a", { type: "teleport" })],
      'steps.0.type: is not a known step type; it must be "action", "email", "transform", "condition", "parallel", "loop", "agent", "delay", "approval" or "workflow"',
    ],
    [[httpStep("a", { config: undefined })], "steps.0.config: is required and must be an object"],
    [[httpStep("a", { config: [] })], "steps.0.config: must be an object, not an array"],
    [
      [httpStep("a", { action: undefined })],
      'steps.0.action: is required for a step of type action: an id such as "http.request"; the catalog (GET /blocks) lists all',
    ],
    [
      [httpStep("a", { action: "http.post" })],
      'steps.0.action: is not a known action; of http it must be "http.request"',
    ],
    [[httpStep("a", { timeoutMs: -1 })], "steps.0.timeoutMs: must be at least 1"],
    [
      [httpStep("a", { retry: { maxAttempts: 0 } })],
      "steps.0.retry.maxAttempts: must be at least 1",
    ],
    [[httpStep("a", { onError: "ignore" })], 'steps.0.onError: must be "fail" or "continue"'],
    [[httpStep("a", { checkpoint: 1 })], "steps.0.checkpoint: must be a boolean, not a number"],
    [[httpStep("a", { when: true })], "steps.0.when: must be a condition"],
    [
      [httpStep("a", { when: { left: 1, operator: "is" } })],
      "steps.0.when.operator: must be equals",
    ],
    [[httpStep("a"), httpStep("a")], 'steps.1.id: the id "a" is used by an earlier step'],
    [
      [httpStep("a"), conditionStep("c", [[httpStep("a")]])],
      'steps.1.config.branches.0.steps.0.id: the id "a" is used',
    ],
  ])("%j is refused", (value, problem) => {
    expect(problemsOf({ steps: value })).toEqual([expect.stringContaining(problem)]);
  });

  it.each<[object, string]>([
    [{ method: undefined }, 'config.method: must be "GET"'],
    [{ method: "FETCH" }, 'config.method: must be "GET"'],
    [{ url: undefined }, "config.url: is required and must be a string"],
    [{ url: "example.com/x" }, "config.url: must be an absolute http or https URL"],
    [{ url: "file:///etc/passwd" }, "config.url: must be an absolute http or https URL"],
    [{ url: "https://x.y/{{nope.a}}" }, "config.url: The template {{nope.a}} is not valid"],
    [{ connectionId: 5 }, "config.connectionId: must be a string, not a number"],
    [{ headers: ["a"] }, "config.headers: must be an object, not an array (or a template"],
    [{ headers: { a: {} } }, "config.headers.a: must be a string, a number, a boolean or null"],
    [{ timeoutMs: "5000" }, "config.timeoutMs: must be a number, not a string (or a template"],
    [
      { auth: { type: "digest" } },
      'config.auth.type: must be "none", "bearer", "basic" or "connection"',
    ],
    [{ auth: { type: "bearer" } }, "config.auth.token: is required and must be a string"],
    [{ successStatuses: [99] }, "config.successStatuses.0: must be at least 100"],
    [{ successStatuses: ["9xx"] }, "config.successStatuses.0: must be a status from 100 to 599"],
    [{ followRedirects: 11 }, "config.followRedirects: must be at most 10"],
    [{ body: { a: ["{{input.}}"] } }, "config.body.a.0: The template {{input.}} is not valid"],
  ])("http.request with %j is refused", (config, problem) => {
    const step = httpStep("a", { config: { method: "GET", url: "https://x.y", ...config } });
    expect(stepProblems(step)).toEqual([expect.stringContaining(`steps.0.${problem}`)]);
  });

  it.each<[string, object, string]>([
    ["transform", {}, "config: a transform has exactly one of mapping and expression"],
    [
      "transform",
      { mapping: 1, expression: "a" },
      "config: a transform has exactly one of mapping and expression",
    ],
    ["transform", { expression: 5 }, "config.expression: must be a string, not a number"],
    ["transform", { mapping: { a: "{{x}}" } }, "config.mapping.a: The template {{x}} is not valid"],
    ["delay", {}, "config: a delay has exactly one of durationMs and until"],
    [
      "delay",
      { durationMs: 1, until: "2026-01-01" },
      "config: a delay has exactly one of durationMs and until",
    ],
    ["delay", { durationMs: -1 }, "config.durationMs: must be at least 0"],
    [
      "delay",
      { durationMs: "soon" },
      "config.durationMs: must be a number, not a string (or a template",
    ],
    ["delay", { until: "tomorrow" }, "config.until: must be an ISO timestamp"],
    ["delay", { until: "2026-02-30T00:00:00Z" }, "config.until: must be an ISO timestamp"],
    ["condition", {}, "config: a condition has exactly one of branches and if"],
    ["condition", { branches: [] }, "config.branches: must have at least 1 item"],
    ["condition", { branches: 5 }, "config.branches: must be an array, not a number"],
    ["condition", { branches: [null] }, "config.branches.0: must be an object, not null"],
    ["condition", { branches: [{ id: "x", steps: [] }] }, "config.branches.0.when: is required"],
    [
      "condition",
      { branches: [{ id: "x", when: { left: 1, operator: "exists" } }] },
      "config.branches.0.steps: must be an array of steps",
    ],
    [
      "condition",
      { branches: [{ id: "else", when: { left: 1, operator: "exists" }, steps: [] }] },
      "config.branches.0.id: else is reserved",
    ],
    ["condition", { if: { left: 1, operator: "exists" } }, "config.then: "],
  ])("%s with %j is refused", (type, config, problem) => {
    expect(stepProblems({ id: "s", name: "s", type, config })).toContainEqual(
      expect.stringContaining(`steps.0.${problem}`),
    );
  });

  it("else is a list of steps", () => {
    expect(stepProblems(ifStep("s", 1, [], {}))).toEqual([
      "steps.0.config.else: must be an array of steps",
    ]);
  });

  it("two branches of one condition can't share an id", () => {
    const branch = { id: "x", when: { left: 1, operator: "exists" }, steps: [] };
    const step = { id: "s", name: "s", type: "condition", config: { branches: [branch, branch] } };
    expect(stepProblems(step)).toEqual(["steps.0.config.branches.1.id: is used twice"]);
  });
});
