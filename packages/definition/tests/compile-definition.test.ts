import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import {
  ACTIONS,
  InvalidDefinitionError,
  STEP_TYPES,
  compileDefinition,
  evaluate,
  settingsSchema,
  triggerSchema,
} from "../src/index.ts";
import type { TemplateScope } from "../src/index.ts";
import { conditionStep, httpStep, ifStep, mappingStep } from "./definition.ts";

const trigger = { type: "api" };
const scope: TemplateScope = {
  input: { a: 5 },
  trigger: {},
  run: {},
  steps: new Map(),
  secrets: new Map(),
};

describe("defaults", () => {
  it("of a table trigger are all of its events", () => {
    const tableId = "019a0f5e-3c4b-7d21-9f00-2b1c3d4e5f60";
    expect(compileDefinition({ trigger: { type: "table", tableId }, steps: [] }).trigger).toEqual({
      type: "table",
      tableId,
      events: ["row_created", "row_updated", "row_deleted"],
    });
  });

  it("are applied to trigger, settings and steps, and not to what was sent", () => {
    const definition = {
      trigger: { type: "schedule", interval: { value: 1, unit: "days" } },
      steps: [mappingStep("a", 1)],
    };
    const before = structuredClone(definition);
    const compiled = compileDefinition(definition);
    expect(compiled.trigger).toMatchObject({
      timezone: "UTC",
      enabled: true,
      overlap: "allow",
      catchUp: "none",
    });
    expect(compiled.settings).toEqual({ timeoutMs: 3_600_000 });
    expect(compiled.steps[0]).toMatchObject({
      onError: "fail",
      checkpoint: false,
      retry: undefined,
      timeoutMs: undefined,
    });
    expect(compiled.inputSchema).toBeNull();
    expect(definition).toEqual(before);
  });

  it("a step's own retry replaces the workflow's", () => {
    const { steps } = compileDefinition({
      trigger,
      steps: [httpStep("a"), httpStep("b", { retry: { maxAttempts: 1 } })],
      settings: { retry: { maxAttempts: 5, backoff: "fixed" } },
    });
    expect(steps.map((step) => [step.retry?.maxAttempts, step.retry?.backoff])).toEqual([
      [5, "fixed"],
      [1, "exponential"],
    ]);
  });
});

describe("steps", () => {
  it("an action has its inputs apart from its connection", () => {
    const [step] = compileDefinition({
      trigger,
      steps: [
        httpStep("a", {
          config: {
            connectionId: "conn_1",
            method: "GET",
            url: "https://x.y/{{input.a}}",
            newer: 1,
          },
        }),
      ],
    }).steps;
    if (step?.type !== "action") throw new Error("expected an action");
    expect(step.action).toBe("http.request");
    expect(step.connectionId && evaluate(step.connectionId, scope).value).toBe("conn_1");
    expect(evaluate(step.inputs, scope).value).toEqual({
      method: "GET",
      url: "https://x.y/5",
      newer: 1,
    });
  });

  it("a transform is a mapping or an expression", () => {
    const { steps } = compileDefinition({
      trigger,
      steps: [
        mappingStep("a", null),
        {
          id: "b",
          type: "transform",
          name: "b",
          config: { expression: "a + 1", input: "{{input}}" },
        },
        { id: "c", type: "transform", name: "c", config: { expression: "1" } },
      ],
    });
    const transforms = steps.map((step) =>
      step.type === "transform" ? step.transform : undefined,
    );
    expect(transforms[0]).toEqual({
      kind: "mapping",
      mapping: { kind: "literal", value: null, usesSecrets: false },
    });
    expect(transforms[1]).toMatchObject({
      kind: "expression",
      expression: "a + 1",
      input: { kind: "path" },
    });
    expect(transforms[2]).toEqual({ kind: "expression", expression: "1", input: undefined });
  });

  it("if/then/else becomes a branch called then, and paths follow the labels", () => {
    const [step] = compileDefinition({
      trigger,
      steps: [ifStep("c", 1, [mappingStep("x", 1)], [conditionStep("d", [[mappingStep("y", 1)]])])],
    }).steps;
    if (step?.type !== "condition") throw new Error("expected a condition");
    expect(step.branches.map(({ id }) => id)).toEqual(["then"]);
    expect(step.branches[0]?.steps[0]?.path).toEqual(["c", "then", "x"]);
    const [inner] = step.elseSteps;
    if (inner?.type !== "condition") throw new Error("expected a condition");
    expect(inner.path).toEqual(["c", "else", "d"]);
    expect(inner.branches[0]?.steps[0]?.path).toEqual(["c", "else", "d", "b0", "y"]);
    expect(inner.elseSteps).toEqual([]);
  });

  it("a delay lasts or ends", () => {
    const { steps } = compileDefinition({
      trigger,
      steps: [
        { id: "a", type: "delay", name: "a", config: { durationMs: 5 } },
        { id: "b", type: "delay", name: "b", config: { until: "{{input.a}}" } },
      ],
    });
    expect(steps.map((step) => step.type === "delay" && step.delay)).toMatchObject([
      { kind: "duration", durationMs: { value: 5 } },
      { kind: "until", until: { kind: "path" } },
    ]);
  });

  it("keep a __proto__ key of their config as data", () => {
    const step: unknown = JSON.parse(
      '{"id":"a","type":"action","name":"a","action":"http.request","config":{"__proto__":"{{input.a}}"}}',
    );
    const [compiled] = compileDefinition({ trigger, steps: [step] }).steps;
    if (compiled?.type !== "action") throw new Error("expected an action");
    expect(JSON.stringify(evaluate(compiled.inputs, scope).value)).toBe('{"__proto__":5}');
  });
});

describe("what was never validated is refused, not half compiled", () => {
  it.each<[unknown]>([
    [undefined],
    [[null]],
    [[mappingStep("a", 1, { type: "teleport" })]],
    [[{ id: "c", type: "condition", name: "c", config: { if: { left: 1, operator: "exists" } } }]],
    [[mappingStep("a", 1, { when: {} })]],
  ])("%j", (steps) => {
    expect(() => compileDefinition({ trigger, steps })).toThrow(InvalidDefinitionError);
  });
});

it("every config schema can be exported as JSON Schema", () => {
  const schemas = [
    ...STEP_TYPES.map(({ configSchema }) => configSchema),
    ...ACTIONS.map(({ inputs }) => inputs),
    settingsSchema,
    triggerSchema,
  ];
  for (const schema of schemas)
    expect(z.toJSONSchema(schema, { io: "input" })).toHaveProperty("$schema");
});
