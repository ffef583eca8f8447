import { transform } from "./scenarios.ts";

/** A step of any type, called `s`. */
export const step = (type: string, config: unknown, over: object = {}) => ({
  id: "s",
  type,
  name: "s",
  config,
  ...over,
});
/** Changes that give a workflow these steps. */
export const steps = (...list: unknown[]) => ({ steps: list });
/** Changes that give a workflow these steps in a loop. */
const inside = (...list: unknown[]) => steps(step("loop", { count: 1, steps: list }));
const trigger = (value: object) => ({ trigger: value });

const TABLE_ID = "019a0f5e-3c4b-7d21-9f00-2b1c3d4e5f60";

/** The fault, its place in the answer, and a word of the right form. */
export const WRONG_DEFINITIONS: [string, Record<string, unknown>, string, string][] = [
  ["an unknown trigger", trigger({ type: "cron" }), "trigger.type", '"schedule"'],
  ["a table trigger without a table", trigger({ type: "table" }), "trigger.tableId", "required"],
  [
    "a table trigger for an unknown event",
    trigger({ type: "table", tableId: TABLE_ID, events: ["row_moved"] }),
    "trigger.events.0",
    '"row_created"',
  ],
  ["a trigger without a type", trigger({}), "trigger.type", '"api"'],
  ["a webhook without a path", trigger({ type: "webhook" }), "trigger.path", "required"],
  ["a schedule without a time", trigger({ type: "schedule" }), "trigger", "exactly one"],
  [
    "a schedule with two times",
    trigger({ type: "schedule", cron: "* * * * *", interval: { value: 1, unit: "days" } }),
    "trigger",
    "exactly one",
  ],
  [
    "a cron of six fields",
    trigger({ type: "schedule", cron: "0 0 * * * *" }),
    "trigger.cron",
    "five fields",
  ],
  [
    "a cron that never fires",
    trigger({ type: "schedule", cron: "0 0 30 2 *" }),
    "trigger.cron",
    "never",
  ],
  [
    "an unknown time zone",
    trigger({ type: "schedule", cron: "0 8 * * *", timezone: "Mars/Base" }),
    "trigger.timezone",
    "IANA",
  ],
  [
    "an interval of seconds",
    trigger({ type: "schedule", interval: { value: 5, unit: "seconds" } }),
    "trigger.interval.unit",
    '"minutes"',
  ],
  ["a step that is none", steps(null), "steps.0", "object"],
  ["a step without anything", steps({}), "steps.0.id", "required"],
  ["an id with a blank", steps(transform("a b", 1)), "steps.0.id", "letters"],
  [
    "an id twice, nested steps included",
    steps(transform("in", 1), step("loop", { count: 1, steps: [transform("in", 1)] })),
    "steps.1.config.steps.0.id",
    "unique",
  ],
  ["an unknown step type", inside(step("sms", {}, { id: "x" })), "steps.0.config.steps.0.type", ""],
  ["no action", steps(step("action", {})), "steps.0.action", '"http.request"'],
  [
    "an unknown action",
    steps(step("action", {}, { action: "http.reqest" })),
    "steps.0.action",
    '"http.request"',
  ],
  [
    "an input of an action missing",
    steps(step("action", { method: "GET" }, { action: "http.request" })),
    "steps.0.config.url",
    "required",
  ],
  [
    "an e-mail without a subject",
    steps(step("email", { to: "a@b.example", text: "x" })),
    "steps.0.config.subject",
    "required",
  ],
  ["a transform of nothing", steps(step("transform", {})), "steps.0.config", "exactly one"],
  [
    "JSONata that is none",
    steps(step("transform", { expression: "$(" })),
    "steps.0.config.expression",
    "JSONata",
  ],
  [
    "an unknown operator",
    steps(step("condition", { if: { left: 1, operator: "=", right: 1 }, then: [] })),
    "steps.0.config.if.operator",
    "equals",
  ],
  [
    "a pattern that RE2 can't read",
    steps(step("condition", { if: { left: "", operator: "matches", right: "(?=x)" }, then: [] })),
    "steps.0.config.if.right",
    "RE2",
  ],
  [
    "a condition that is none",
    steps({ ...transform("a", 1), when: "{{input.go}}" }),
    "steps.0.when",
    "operator",
  ],
  ["an empty loop", steps(step("loop", { count: 1, steps: [] })), "steps.0.config.steps", "1 step"],
  [
    "a loop over nothing",
    steps(step("loop", { steps: [transform("a", 1)] })),
    "steps.0.config",
    "items, count and while",
  ],
  [
    "a parallel without branches",
    steps(step("parallel", { branches: [] })),
    "steps.0.config.branches",
    "1 branch",
  ],
  [
    "a parallel with branches and forEach",
    steps(
      step("parallel", { branches: [{ steps: [transform("a", 1)] }], forEach: "{{input.list}}" }),
    ),
    "steps.0.config",
    "exactly one",
  ],
  [
    "an unknown strategy",
    steps(step("parallel", { branches: [{ steps: [transform("a", 1)] }], strategy: "all" })),
    "steps.0.config.strategy",
    '"wait-all"',
  ],
  [
    "an agent step without an agent",
    steps(step("agent", { input: {} })),
    "steps.0.config.agentId",
    "required",
  ],
  [
    "a delay of two kinds",
    steps(step("delay", { durationMs: 1, until: "2027-01-01T00:00:00Z" })),
    "steps.0.config",
    "exactly one",
  ],
  [
    "a delay of half a millisecond",
    steps(step("delay", { durationMs: 0.5 })),
    "steps.0.config.durationMs",
    "whole",
  ],
  [
    "an approval without a message",
    steps(step("approval", {})),
    "steps.0.config.message",
    "required",
  ],
  [
    "a child workflow without a UUID",
    steps(step("workflow", { workflowId: "mine" })),
    "steps.0.config.workflowId",
    "UUID",
  ],
  [
    "a step that is not there",
    steps(transform("a", "{{steps.b.output}}")),
    "steps.0.config.mapping",
    "does not exist",
  ],
  [
    "a step that comes later",
    steps(transform("a", { deep: ["{{steps.b.output}}"] }), transform("b", 1)),
    "steps.0.config.mapping.deep.0",
    "later",
  ],
  [
    "its own output",
    steps(transform("a", "{{steps.a.output}}")),
    "steps.0.config.mapping",
    "own output",
  ],
  [
    "a step of a sibling branch",
    steps(
      step("parallel", {
        branches: [
          { id: "x", steps: [transform("a", 1)] },
          { id: "y", steps: [transform("b", "{{steps.a.output}}")] },
        ],
      }),
    ),
    "steps.0.config.branches.1.steps.0.config.mapping",
    "another branch",
  ],
  [
    "a step that holds it",
    inside(transform("a", "{{steps.s.output}}")),
    "steps.0.config.steps.0.config.mapping",
    "holds it",
  ],
  [
    "loop outside of a loop",
    steps(transform("a", "{{loop.item}}")),
    "steps.0.config.mapping",
    "loop",
  ],
  [
    "an unknown root",
    steps(transform("a", "{{env.HOME}}")),
    "steps.0.config.mapping",
    "input, steps",
  ],
  [
    "a template that is not closed",
    steps(transform("a", "{{input.a")),
    "steps.0.config.mapping",
    "}}",
  ],
  [
    "a retry policy out of bounds",
    steps({ ...transform("a", 1), retry: { maxAttempts: 11 } }),
    "steps.0.retry.maxAttempts",
    "at most 10",
  ],
  [
    "an unknown onError",
    steps({ ...transform("a", 1), onError: "skip" }),
    "steps.0.onError",
    '"fail"',
  ],
  [
    "a template with something beside it where a list is wanted",
    steps(step("loop", { items: "a{{input.x}}", steps: [transform("in", 1)] })),
    "steps.0.config.items",
    "nothing beside it",
  ],
  [
    "a role that nobody has",
    steps(step("approval", { message: "ok?", approvers: { roles: ["king"] } })),
    "steps.0.config.approvers.roles.0",
    '"viewer"',
  ],
  [
    "approvers of whom none is named",
    steps(step("approval", { message: "ok?", approvers: { users: [], roles: [] } })),
    "steps.0.config.approvers",
    "leave approvers out",
  ],
  [
    "an API key in place of its id",
    steps(step("approval", { message: "ok?", approvers: { apiKeys: ["wfk_secret"] } })),
    "steps.0.config.approvers.apiKeys.0",
    "not the key itself",
  ],
  [
    "a member that run has not",
    steps(transform("a", "{{run.foo}}")),
    "steps.0.config.mapping",
    "startedAt",
  ],
  [
    "JSONata that reads a step which is not there",
    steps(step("transform", { expression: "steps.gone.output" })),
    "steps.0.config.expression",
    "does not exist",
  ],
  [
    "an unknown type with a config that is none",
    steps({ id: "s", type: "nope", name: "", config: 1 }),
    "steps.0.type",
    "step type",
  ],
  [
    "a branch without a condition",
    steps(step("condition", { branches: [{ id: "x", steps: [] }] })),
    "steps.0.config.branches.0.when",
    "required",
  ],
  ["a timeout of nothing", { settings: { timeoutMs: 0 } }, "settings.timeoutMs", "at least 1"],
  [
    "a concurrency limit of nothing",
    { settings: { concurrency: { limit: 0, onLimit: "queue" } } },
    "settings.concurrency.limit",
    "at least 1",
  ],
  [
    "a schema of an unknown type",
    { inputSchema: { type: "strng" } },
    "inputSchema.type",
    '"string"',
  ],
  [
    "a schema with a reference outside",
    { outputSchema: { $ref: "https://example.com/x.json" } },
    "outputSchema.$ref",
    "reference",
  ],
];
