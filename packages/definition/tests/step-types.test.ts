import { describe, expect, it } from "@jest/globals";
import { mappingStep, step, stepProblems } from "./definition.ts";

const steps = [mappingStep("inside", 1)];
const always = { left: 1, operator: "exists" };
const uuid = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
const many = (count: number): unknown[] => Array.from({ length: count }, (_, index) => index);

describe("is accepted", () => {
  it.each<[string, object]>([
    ["parallel", { branches: [{ steps }] }],
    ["parallel", { branches: [{ id: "x", name: "X", steps }], strategy: "wait-any", timeout: 1 }],
    ["parallel", { forEach: "{{input.list}}", steps, concurrency: 100, strategy: "fail-fast" }],
    ["parallel", { forEach: [], steps, timeout: 30 * 86_400_000, strategy: "wait-all-settled" }],
    ["parallel", { forEach: many(10_000), steps }],
    ["parallel", { branches: [{ steps }], note: "{{anything}}" }],
    ["loop", { items: "{{input.list}}", steps }],
    ["loop", { items: [1, "{{input.x}}"], steps, maxIterations: 2 }],
    ["loop", { count: 0, steps }],
    ["loop", { count: 100_000, maxIterations: 100_000, steps }],
    ["loop", { count: "{{input.n}}", steps }],
    ["loop", { while: { all: [always, { not: always }] }, steps }],
    ["agent", { agentId: "agent_decision", input: { data: "{{input}}" } }],
    [
      "agent",
      {
        agentId: "{{input.agent}}",
        input: "{{input}}",
        userMessage: "Go",
        overrides: { temperature: 2, maxTokens: "{{input.max}}", model: "m" },
      },
    ],
    ["approval", { message: "Pay {{input.amount}}?" }],
    [
      "approval",
      {
        message: "Pay?",
        approvers: { roles: ["admin"] },
        timeoutMs: 366 * 86_400_000,
        onTimeout: "reject",
        form: { type: "object", properties: { note: { type: "string" } } },
      },
    ],
    ["workflow", { workflowId: uuid }],
    ["workflow", { workflowId: uuid.toUpperCase(), input: { a: "{{input.a}}" }, wait: false }],
    ["workflow", { workflowId: "{{input.id}}", input: "{{input}}" }],
  ])("%s with %j", (type, config) => {
    expect(stepProblems(step(type, "s", config))).toEqual([]);
  });
});

describe("is refused with the field and what would be right", () => {
  it.each<[string, object, string]>([
    ["parallel", {}, "config: a parallel has exactly one of branches and forEach"],
    ["parallel", { steps }, "config: a parallel has exactly one of branches and forEach"],
    [
      "parallel",
      { branches: [{ steps }], forEach: [], steps },
      "config: a parallel has exactly one of branches and forEach",
    ],
    ["parallel", { branches: [{ steps }], steps }, "config.steps: forEach and steps go together"],
    ["parallel", { forEach: [] }, "config.steps: forEach and steps go together"],
    ["parallel", { forEach: [], steps: [] }, "config.steps: must have at least 1 step"],
    ["parallel", { forEach: many(10_001), steps }, "config.forEach: must have at most 10000 items"],
    [
      "parallel",
      { forEach: "list", steps },
      "config.forEach: must be an array, not a string (or a",
    ],
    ["parallel", { forEach: {}, steps }, "config.forEach: must be an array, not an object"],
    ["parallel", { branches: [] }, "config.branches: must have at least 1 branch"],
    ["parallel", { branches: {} }, "config.branches: must be an array, not an object"],
    ["parallel", { branches: [null] }, "config.branches.0: must be an object, not null"],
    ["parallel", { branches: [{}] }, "config.branches.0.steps: must be an array of steps"],
    [
      "parallel",
      { branches: [{ steps: [] }] },
      "config.branches.0.steps: must have at least 1 step",
    ],
    [
      "parallel",
      { branches: [{ id: "a.b", steps }] },
      "config.branches.0.id: must be 1 to 128 letters",
    ],
    [
      "parallel",
      { branches: many(101).map((n) => ({ steps: [mappingStep(`i${String(n)}`, 1)] })) },
      "config.branches: must have at most 100 items",
    ],
    [
      "parallel",
      {
        branches: [
          { id: "x", steps },
          { id: "x", steps: [mappingStep("other", 1)] },
        ],
      },
      'config.branches.1.id: "x" is the id of another branch too',
    ],
    [
      "parallel",
      { branches: [{ id: "branch2", steps }, { steps: [mappingStep("other", 1)] }] },
      'config.branches.1.id: "branch2" is the id of another branch too',
    ],
    [
      "parallel",
      { branches: [{ steps }], strategy: "race" },
      'config.strategy: must be "wait-all", "wait-all-settled", "wait-any" or "fail-fast"',
    ],
    [
      "parallel",
      { branches: [{ steps }], concurrency: 0 },
      "config.concurrency: must be at least 1",
    ],
    [
      "parallel",
      { branches: [{ steps }], concurrency: 101 },
      "config.concurrency: must be at most",
    ],
    [
      "parallel",
      { branches: [{ steps }], concurrency: 1.5 },
      "config.concurrency: must be a whole",
    ],
    ["parallel", { branches: [{ steps }], timeout: 0 }, "config.timeout: must be at least 1"],
    [
      "parallel",
      { branches: [{ steps }], timeout: 2_592_000_001 },
      "config.timeout: must be at most",
    ],
    ["loop", { steps }, "config: a loop has exactly one of items, count and while"],
    ["loop", { items: [], count: 1, steps }, "config: a loop has exactly one of items, count and"],
    ["loop", { count: 1 }, "config.steps: must be an array of steps"],
    ["loop", { count: 1, steps: [] }, "config.steps: must have at least 1 step"],
    ["loop", { count: -1, steps }, "config.count: must be at least 0"],
    ["loop", { count: 1.5, steps }, "config.count: must be a whole number"],
    ["loop", { count: "5", steps }, "config.count: must be a number, not a string (or a template"],
    ["loop", { count: 1_001, steps }, "config.count: is more than maxIterations, which is 1000"],
    ["loop", { count: 1e9, steps }, "config.count: is more than maxIterations, which is 1000"],
    [
      "loop",
      { items: many(3), maxIterations: 2, steps },
      "config.items: has more items than maxIterations, which is 2",
    ],
    ["loop", { items: "x", steps }, "config.items: must be an array, not a string (or a template"],
    ["loop", { while: true, steps }, "config.while: must be a condition"],
    [
      "loop",
      { while: { left: 1, operator: "is" }, steps },
      "config.while.operator: must be equals",
    ],
    ["loop", { count: 1, maxIterations: 0, steps }, "config.maxIterations: must be at least 1"],
    ["loop", { count: 1, maxIterations: 100_001, steps }, "config.maxIterations: must be at most"],
    ["agent", { input: {} }, "config.agentId: is required and must be a string"],
    ["agent", { agentId: "a" }, "config.input: is required and must be an object (or a template"],
    ["agent", { agentId: "a", input: "x" }, "config.input: must be an object, not a string (or a"],
    ["agent", { agentId: "a", input: [] }, "config.input: must be an object, not an array"],
    [
      "agent",
      { agentId: "a", input: {}, overrides: { temperature: 2.1 } },
      "config.overrides.temperature: must be at most 2",
    ],
    [
      "agent",
      { agentId: "a", input: {}, overrides: { maxTokens: 0 } },
      "config.overrides.maxTokens: must be at least 1",
    ],
    [
      "agent",
      { agentId: "a", input: {}, overrides: { maxTokens: 128_001 } },
      "config.overrides.maxTokens: must be at most 128000",
    ],
    ["approval", {}, "config.message: is required and must be a string"],
    ["approval", { message: "" }, "config.message: must have at least 1 character"],
    [
      "approval",
      { message: "m", approvers: {} },
      "config.approvers: must name at least one user, role or API key",
    ],
    [
      "approval",
      { message: "m", approvers: { users: [], roles: [], apiKeys: [] } },
      "config.approvers: must name at least one user, role or API key",
    ],
    [
      "approval",
      { message: "m", approvers: { apiKeys: ["wfk_0123456789abcdef0123456789abcdef"] } },
      "config.approvers.apiKeys.0: must be the id of an API key, not the key itself",
    ],
    [
      "approval",
      { message: "m", approvers: { apiKeys: ["{{input.key}}"] } },
      "config.approvers.apiKeys.0: must be the id of an API key",
    ],
    [
      "approval",
      { message: "m", approvers: { users: ["{{input.boss}}"] } },
      "config.approvers.users.0: must be written out; templates are not evaluated here",
    ],
    [
      "approval",
      { message: "m", approvers: { users: "ada" } },
      "config.approvers.users: must be an array",
    ],
    ["approval", { message: "m", timeoutMs: 0 }, "config.timeoutMs: must be at least 1"],
    ["approval", { message: "m", timeoutMs: 31_622_400_001 }, "config.timeoutMs: must be at most"],
    [
      "approval",
      { message: "m", onTimeout: "skip" },
      'config.onTimeout: must be "fail", "approve" or "reject"',
    ],
    [
      "approval",
      { message: "m", form: { properties: 5 } },
      "config.form.properties: must be an object",
    ],
    ["approval", { message: "m", form: "x" }, "config.form: must be an object, not a string"],
    [
      "workflow",
      {},
      "config.workflowId: must be the id of a workflow, which is a UUID (or a template",
    ],
    ["workflow", { workflowId: "other" }, "config.workflowId: must be the id of a workflow"],
    ["workflow", { workflowId: uuid, input: [] }, "config.input: must be an object, not an array"],
    ["workflow", { workflowId: uuid, wait: "no" }, "config.wait: must be a boolean, not a string"],
  ])("%s with %j", (type, config, problem) => {
    expect(stepProblems(step(type, "s", config))).toEqual([
      expect.stringContaining(`steps.0.${problem}`),
    ]);
  });
});

it("nested steps are checked like any other, however deep and in whatever", () => {
  const bad = step("delay", "bad", {});
  const nested = step("loop", "l", {
    count: 1,
    steps: [
      step("parallel", "p", {
        branches: [{ steps: [step("parallel", "q", { forEach: "{{loop.item}}", steps: [bad] })] }],
      }),
    ],
  });
  expect(stepProblems(nested)).toEqual([
    "steps.0.config.steps.0.config.branches.0.steps.0.config.steps.0.config: a delay has exactly one of durationMs and until",
  ]);
});

it("ids are unique across loops and branches", () => {
  const twice = [
    step("loop", "l", { count: 1, steps: [mappingStep("a", 1)] }),
    step("parallel", "p", { branches: [{ steps: [mappingStep("a", 1)] }] }),
  ];
  expect(stepProblems(...twice)).toEqual([
    expect.stringContaining('steps.1.config.branches.0.steps.0.id: the id "a" is used'),
  ]);
});
