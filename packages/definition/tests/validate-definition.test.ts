import { describe, expect, it } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { DEFINITION_LIMITS, validateDefinition } from "../src/index.ts";
import {
  conditionStep,
  httpStep,
  ifStep,
  mappingStep,
  problemsOf,
  stepProblems,
} from "./definition.ts";

const steps = [httpStep("a")];

describe("a valid definition", () => {
  it("comes back as the very object that was sent, unknown keys and all", () => {
    const input = {
      trigger: { type: "webhook", path: "orders", provider: "stripe", newer: 1 },
      steps: [
        {
          ...httpStep("a"),
          position: { x: 1 },
          config: { method: "GET", url: "https://x.y", newer: true },
        },
      ],
      settings: { tags: ["t"], newer: {} },
      inputSchema: { type: "object" },
      outputSchema: null,
    };
    const before = structuredClone(input);
    const result = validateDefinition(input);
    expect(result).toEqual({ ok: true, definition: before });
    expect(result.ok && result.definition).toBe(input);
  });

  it("may be any workflow of the four step types", () => {
    expect(
      stepProblems(
        httpStep("a", {
          when: { left: "{{input.x}}", operator: "exists" },
          timeoutMs: 1000,
          retry: { maxAttempts: 3, backoff: "fixed", delayMs: 10 },
          onError: "continue",
          checkpoint: true,
          config: {
            connectionId: "conn_1",
            method: "{{input.method}}",
            url: "{{input.base}}/orders",
            headers: { Authorization: "Bearer {{secrets.T}}", n: 1 },
            query: { a: [1, "b"], c: null },
            body: { any: ["{{input}}"] },
            auth: { type: "basic", username: "u", password: "{{secrets.P}}" },
            timeoutMs: "{{input.t}}",
            successStatuses: ["2xx", 404, "{{input.s}}"],
            followRedirects: 2,
          },
        }),
        {
          id: "b",
          type: "transform",
          name: "b",
          config: { expression: "$sum(rows.{'{{': a})", input: "{{steps.a.output}}" },
        },
        conditionStep("c", [[mappingStep("d", null)], []], []),
        ifStep("e", 1, []),
        { id: "f", type: "delay", name: "f", config: { durationMs: "{{input.ms}}" } },
        { id: "g", type: "delay", name: "g", config: { until: "2026-01-31T09:00:00Z" } },
      ),
    ).toEqual([]);
  });
});

const TABLE_ID = "019a0f5e-3c4b-7d21-9f00-2b1c3d4e5f60";

describe("trigger", () => {
  it.each([
    [{ type: "api" }],
    [{ type: "manual" }],
    [{ type: "webhook", path: "/x" }],
    [{ type: "schedule", cron: "*/5 * * * *" }],
    [
      {
        type: "schedule",
        cron: "0 9 * * MON-FRI",
        timezone: "Europe/Paris",
        enabled: false,
        input: { a: 1 },
      },
    ],
    [{ type: "schedule", interval: { value: 2, unit: "weeks" }, overlap: "skip", catchUp: "last" }],
    [{ type: "table", tableId: TABLE_ID }],
    [{ type: "table", tableId: TABLE_ID.toUpperCase(), events: ["row_updated", "row_updated"] }],
  ])("%j is valid", (trigger) => {
    expect(problemsOf({ trigger, steps })).toEqual([]);
  });

  it.each<[unknown, string]>([
    [undefined, "trigger: is required and must be an object"],
    [null, "trigger: must be an object, not null"],
    [[], "trigger: must be an object, not an array"],
    ["api", "trigger: must be an object, not a string"],
    [{}, 'trigger.type: must be "api", "manual", "webhook", "schedule" or "table"'],
    [{ type: "ftp" }, 'trigger.type: must be "api", "manual", "webhook", "schedule" or "table"'],
    [{ type: "webhook" }, "trigger.path: is required and must be a string"],
    [{ type: "webhook", path: "" }, "trigger.path: must have at least 1 character"],
    [{ type: "webhook", path: "x".repeat(256) }, "trigger.path: must have at most 255 characters"],
    [
      { type: "webhook", path: "x", provider: 5 },
      "trigger.provider: must be a string, not a number",
    ],
    [{ type: "schedule" }, "trigger: a schedule trigger has exactly one of cron and interval"],
    [
      { type: "schedule", cron: "* * * * *", interval: { value: 1, unit: "days" } },
      "trigger: a schedule trigger has exactly one of cron and interval",
    ],
    [{ type: "schedule", cron: "0 0 30 2 *" }, "trigger.cron: never fires"],
    [{ type: "schedule", cron: "* * * *" }, "trigger.cron: must have five fields"],
    [
      { type: "schedule", cron: "61 * * * *" },
      'trigger.cron: must not have "61" as its minute field',
    ],
    [
      { type: "schedule", interval: { value: 0, unit: "days" } },
      "trigger.interval.value: must be at least 1",
    ],
    [
      { type: "schedule", interval: { value: 1.5, unit: "days" } },
      "trigger.interval.value: must be a whole number",
    ],
    [
      { type: "schedule", interval: { value: 1, unit: "years" } },
      'trigger.interval.unit: must be "minutes"',
    ],
    [
      { type: "schedule", cron: "* * * * *", timezone: "Mars/Base" },
      "trigger.timezone: must be an IANA time zone",
    ],
    [
      { type: "schedule", cron: "* * * * *", timezone: "+02:00" },
      "trigger.timezone: must be an IANA time zone",
    ],
    [
      { type: "schedule", cron: "* * * * *", overlap: "queue" },
      'trigger.overlap: must be "allow" or "skip"',
    ],
    [{ type: "table" }, "trigger.tableId: is required and must be a string"],
    [{ type: "table", tableId: "orders" }, "trigger.tableId: must be the id of a table"],
    [{ type: "table", tableId: TABLE_ID, events: [] }, "trigger.events: must name 1 to 3 events"],
    [
      { type: "table", tableId: TABLE_ID, events: ["row_moved"] },
      'trigger.events.0: must be "row_created", "row_updated" or "row_deleted"',
    ],
    [
      { type: "table", tableId: TABLE_ID, events: "row_created" },
      "trigger.events: must be an array, not a string",
    ],
  ])("%j is refused", (trigger, problem) => {
    expect(problemsOf({ trigger, steps })).toEqual([expect.stringContaining(problem)]);
  });
});

describe("settings", () => {
  it.each<[unknown, string]>([
    [[], "settings: must be an object, not an array"],
    [{ timeoutMs: 0 }, "settings.timeoutMs: must be at least 1"],
    [{ timeoutMs: "1000" }, "settings.timeoutMs: must be a number, not a string"],
    [{ retry: {} }, "settings.retry.maxAttempts: is required and must be a number"],
    [{ retry: { maxAttempts: 11 } }, "settings.retry.maxAttempts: must be at most 10"],
    [
      { retry: { maxAttempts: 2, backoff: "linear" } },
      'settings.retry.backoff: must be "fixed" or "exponential"',
    ],
    [
      { retry: { maxAttempts: 2, delayMs: 100, maxDelayMs: 10 } },
      "settings.retry.maxDelayMs: must be at least delayMs",
    ],
    [{ concurrency: { limit: 0 } }, "settings.concurrency.limit: must be at least 1"],
    [
      { concurrency: { limit: 1, onLimit: "drop" } },
      'settings.concurrency.onLimit: must be "queue" or "skip"',
    ],
    [{ tags: "a" }, "settings.tags: must be an array, not a string"],
    [{ tags: ["a", 1] }, "settings.tags.1: must be a string, not a number"],
  ])("%j is refused", (settings, problem) => {
    expect(problemsOf({ steps, settings })).toEqual([problem]);
  });
});

describe("schemas", () => {
  it.each<[unknown, string]>([
    [5, "inputSchema: must be a JSON Schema, which is an object, not a number"],
    [true, "inputSchema: must be a JSON Schema, which is an object, not a boolean"],
    [{ type: "object", required: "a" }, "inputSchema.required: must be an array"],
    [
      { properties: { a: { pattern: "(?!x)" } } },
      "inputSchema.properties.a.pattern: is not a usable JSON Schema",
    ],
  ])("%j is refused", (inputSchema, problem) => {
    expect(problemsOf({ steps, inputSchema })).toEqual([expect.stringContaining(problem)]);
  });
});

describe("limits", () => {
  it("reports all problems at once, but no more than 50", () => {
    const many = Array.from({ length: 200 }, () => ({}));
    expect(problemsOf({ trigger: {}, steps: many })).toHaveLength(DEFINITION_LIMITS.violationsMax);
  });

  it("takes 1,000 steps and no more, nested ones included", () => {
    const some = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => mappingStep(`${prefix}${index}`, 1));
    expect(stepProblems(...some(500, "a"), conditionStep("c", [some(499, "b")]))).toEqual([]);
    expect(stepProblems(...some(500, "a"), conditionStep("c", [some(500, "b")]))).toEqual([
      "steps: a workflow has at most 1000 steps in all",
    ]);
  });

  it("takes 20 levels of blocks and no more", () => {
    const nest = (levels: number) => {
      let step = mappingStep("leaf", 1);
      for (let level = 0; level < levels; level += 1) step = conditionStep(`c${level}`, [[step]]);
      return step;
    };
    expect(stepProblems(nest(20))).toEqual([]);
    expect(stepProblems(nest(21))).toEqual([expect.stringContaining("steps nest at most 20 deep")]);
  });

  it("tries no more patterns than a second is enough for", () => {
    const patterns = Array.from({ length: 2_000 }, (_, index) => ({
      left: "{{input.a}}",
      operator: "matches",
      right: `(?:(?:a{0,10}){0,10}){0,10}${index}`,
    }));
    expect(stepProblems(mappingStep("a", 1, { when: { any: patterns } }))).toContainEqual(
      expect.stringContaining("the patterns are too large together"),
    );
  });

  it("refuses a value too deep for any check, and one that contains itself", () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(problemsOf({ steps, settings: { deep } })).toEqual([
      "settings: nests deeper than 128 levels",
    ]);
    const round: Record<string, unknown> = {};
    round["round"] = round;
    expect(problemsOf({ steps: [round] })).toEqual(["steps: nests deeper than 128 levels"]);
  });
});

describe("hostile shapes", () => {
  it("a __proto__ key is data and pollutes nothing", () => {
    const step: unknown = JSON.parse(
      '{"id":"a","type":"transform","name":"a","__proto__":{"polluted":1},"config":{"mapping":1,"__proto__":{"polluted":1}}}',
    );
    expect(stepProblems(step)).toEqual([]);
    expect(
      stepProblems(
        JSON.parse('{"__proto__":{"id":"a","type":"transform","name":"a","config":{"mapping":1}}}'),
      ),
    ).not.toEqual([]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("any JSON is answered, never thrown at", () => {
    const key = fc.constantFrom(
      "id",
      "type",
      "name",
      "config",
      "steps",
      "branches",
      "if",
      "then",
      "else",
      "when",
      "mapping",
      "all",
      "left",
      "operator",
      "__proto__",
      "constructor",
    );
    const word = fc.constantFrom(
      "a",
      "action",
      "transform",
      "condition",
      "delay",
      "{{input.a}}",
      "{{",
      "http.request",
      "equals",
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "medium" },
        word,
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(key, tie("value"), { maxKeys: 8, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, value, value, value, (trigger, someSteps, settings, inputSchema) => {
        const result = validateDefinition({ trigger, steps: [someSteps], settings, inputSchema });
        expect(result.ok || result.violations.length > 0).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
