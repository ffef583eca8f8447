import { describe, expect, it } from "@jest/globals";
import { compileDefinition, evaluate } from "../src/index.ts";
import type { CompiledStep, TemplateScope } from "../src/index.ts";
import {
  actionStep,
  forEachStep,
  httpStep,
  loopStep,
  mappingStep,
  parallelStep,
  step,
} from "./definition.ts";

const trigger = { type: "api" };
const scope: TemplateScope = {
  input: { a: 5, list: [1, 2] },
  trigger: {},
  run: {},
  steps: new Map(),
  secrets: new Map(),
};
const inside = [mappingStep("inside", 1)];

function compileOne<Type extends CompiledStep["type"]>(
  type: Type,
  config: object,
): Extract<CompiledStep, { type: Type }> {
  const [compiled] = compileDefinition({ trigger, steps: [step(type, "s", config)] }).steps;
  if (!isOfType(compiled, type)) throw new Error(`expected a ${type}`);
  return compiled;
}

function isOfType<Type extends CompiledStep["type"]>(
  compiled: CompiledStep | undefined,
  type: Type,
): compiled is Extract<CompiledStep, { type: Type }> {
  return compiled?.type === type;
}

describe("parallel", () => {
  it("branches without an id are called by their place, and defaults are applied", () => {
    const { work, ...rest } = compileOne("parallel", {
      branches: [
        { steps: inside },
        { id: "x", name: "X", steps: [mappingStep("b", 1)] },
        { steps: [mappingStep("c", 1)] },
      ],
    });
    if (work.kind !== "branches") throw new Error("expected branches");
    expect(work.branches.map(({ id, name }) => [id, name])).toEqual([
      ["branch1", undefined],
      ["x", "X"],
      ["branch3", undefined],
    ]);
    expect(work.branches[0]?.steps[0]?.path).toEqual(["s", "branch1", "inside"]);
    expect(rest).toMatchObject({
      strategy: "wait-all",
      concurrency: undefined,
      totalTimeoutMs: undefined,
    });
  });

  it("forEach has its items and steps, whose paths name no branch", () => {
    const { work, strategy, concurrency, totalTimeoutMs } = compileOne("parallel", {
      forEach: "{{input.list}}",
      steps: inside,
      strategy: "wait-any",
      concurrency: 3,
      timeout: 50,
    });
    if (work.kind !== "forEach") throw new Error("expected forEach");
    expect(evaluate(work.items, scope).value).toEqual([1, 2]);
    expect(work.steps[0]?.path).toEqual(["s", "inside"]);
    expect([strategy, concurrency, totalTimeoutMs]).toEqual(["wait-any", 3, 50]);
  });
});

describe("loop", () => {
  it.each<[object, unknown]>([
    [{ items: ["{{input.a}}", 1] }, { kind: "items", value: [5, 1] }],
    [{ count: "{{input.a}}" }, { kind: "count", value: 5 }],
    [{ count: 0 }, { kind: "count", value: 0 }],
  ])("over %j", (config, expected) => {
    const { over, maxIterations, steps } = compileOne("loop", { ...config, steps: inside });
    const value =
      over.kind === "items"
        ? evaluate(over.items, scope).value
        : over.kind === "count" && evaluate(over.count, scope).value;
    expect({ kind: over.kind, value }).toEqual(expected);
    expect([maxIterations, steps[0]?.path]).toEqual([1_000, ["s", "inside"]]);
  });

  it("while a condition holds", () => {
    const { over, maxIterations } = compileOne("loop", {
      while: { left: "{{loop.index}}", operator: "less_than", right: 3 },
      steps: inside,
      maxIterations: 7,
    });
    expect(over).toMatchObject({ kind: "while", condition: { kind: "compare" } });
    expect(maxIterations).toBe(7);
  });
});

it("an agent has its question in one, without what is no part of it", () => {
  const { question } = compileOne("agent", {
    agentId: "a",
    input: "{{input}}",
    overrides: { temperature: "{{input.a}}" },
    note: "{{input.b}}",
  });
  expect(evaluate(question, scope).value).toEqual({
    agentId: "a",
    input: scope.input,
    overrides: { temperature: 5 },
  });
});

it("an approval has its defaults, and its timeout apart from the step's", () => {
  expect(compileOne("approval", { message: "Go?" })).toMatchObject({
    approvers: undefined,
    decisionTimeoutMs: undefined,
    timeoutMs: undefined,
    onTimeout: "fail",
    form: undefined,
  });
  expect(
    compileOne("approval", {
      message: "Go?",
      approvers: { users: ["u"] },
      timeoutMs: 9,
      onTimeout: "approve",
      form: { type: "object" },
    }),
  ).toMatchObject({
    approvers: { users: ["u"], roles: [], apiKeys: [] },
    decisionTimeoutMs: 9,
    timeoutMs: undefined,
    onTimeout: "approve",
    form: { type: "object" },
  });
});

it("a workflow step waits unless told otherwise", () => {
  const workflowId = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
  expect(compileOne("workflow", { workflowId })).toMatchObject({ wait: true, input: undefined });
  expect(compileOne("workflow", { workflowId, wait: false }).wait).toBe(false);
});

it("an email's message has what was given and nothing else", () => {
  const { message, connectionId } = compileOne("email", {
    to: ["a@b.c", "{{input.a}}@b.c"],
    subject: "{{input.a}}",
    text: "t",
    connectionId: "conn_1",
    note: "{{not.a.template}}",
  });
  expect(evaluate(message, scope).value).toEqual({
    to: ["a@b.c", "5@b.c"],
    subject: 5,
    text: "t",
  });
  expect(connectionId && evaluate(connectionId, scope).value).toBe("conn_1");
});

it("an email's attachments are apart from its message and may be larger than any other value", () => {
  const { message, attachments } = compileOne("email", {
    to: "a@b.c",
    subject: "s",
    attachments: [{ filename: "a", content: "{{input.large}}" }],
  });
  const large = "A".repeat(2 * 1024 * 1024);
  const files = { ...scope, input: { large } };
  expect(evaluate(message, files).value).toEqual({ to: "a@b.c", subject: "s" });
  if (attachments === undefined) throw new Error("nothing was compiled");
  expect(() => evaluate(attachments, files)).toThrow("larger than 1 MiB");
  expect(() => evaluate(attachments, files, 1024 * 1024)).toThrow("larger than 1 MiB");
  expect(evaluate(attachments, files, 4 * 1024 * 1024).value).toEqual([
    { filename: "a", content: large },
  ]);
});

it("an email's lists are split before their templates bring anything in", () => {
  const { message } = compileOne("email", {
    to: "{{input.a}} <a@b.c>, {{input.a}}",
    cc: "{{input.a}}",
    bcc: '"Doe, Jane" <a@b.c>, d@e.f',
    replyTo: "{{input.a}} <a@b.c>",
    subject: "a, b",
    text: "{{input.a}}, b",
  });
  expect(evaluate(message, scope).value).toEqual({
    to: ["5 <a@b.c>", 5],
    cc: 5,
    bcc: '"Doe, Jane" <a@b.c>, d@e.f',
    replyTo: ["5 <a@b.c>"],
    subject: "a, b",
    text: "5, b",
  });
});

it("the workflow's retry policy goes to steps that do one thing outside, and to no others", () => {
  const { steps } = compileDefinition({
    trigger,
    settings: { retry: { maxAttempts: 5 } },
    steps: [
      httpStep("action"),
      step("email", "email", { to: "a@b.c", subject: "s", text: "t" }),
      step("agent", "agent", { agentId: "a", input: {} }),
      mappingStep("transform", 1),
      loopStep("loop", inside),
      forEachStep("parallel", [mappingStep("x", 1)]),
      step("delay", "delay", { durationMs: 1 }),
      step("approval", "approval", { message: "m" }),
      step("workflow", "workflow", { workflowId: "{{input.id}}" }),
      mappingStep("own", 1, { retry: { maxAttempts: 2 } }),
    ],
  });
  const attempts = Object.fromEntries(steps.map(({ id, retry }) => [id, retry?.maxAttempts]));
  expect(attempts).toEqual({ action: 5, email: 5, agent: 5, own: 2 });
});

describe("secretKeys", () => {
  it("names every secret of the definition once, wherever it stands", () => {
    const { secretKeys } = compileDefinition({
      trigger,
      steps: [
        httpStep("a", {
          config: { method: "GET", url: "https://{{secrets.HOST}}", auth: "{{ secrets['AUTH'] }}" },
          when: { all: [{ left: "{{secrets.WHEN}}", operator: "exists" }] },
        }),
        parallelStep("p", [
          [
            loopStep("l", [mappingStep("m", ["{{secrets.DEEP}}", "{{secrets.HOST}}"])], {
              while: { left: 1, operator: "equals", right: "{{secrets.WHILE}}" },
            }),
          ],
        ]),
        actionStep("t", "text.template", {
          template: "{{secrets.TEXT}} {{name}}",
          values: { name: "{{secrets.VALUE}}" },
        }),
      ],
    });
    expect(secretKeys).toEqual(["WHEN", "HOST", "AUTH", "WHILE", "DEEP", "VALUE", "TEXT"]);
  });

  it("is empty without secrets, and text that is no template does not count", () => {
    const steps = [
      mappingStep("a", String.raw`\{{secrets.A}}`),
      step("transform", "b", { expression: '"{{secrets.B}}"' }),
    ];
    expect(compileDefinition({ trigger, steps }).secretKeys).toEqual([]);
  });
});

describe("the outputs that a step may read", () => {
  it.each<[string, object, readonly string[] | "all"]>([
    ["no template", mappingStep("s", 1), []],
    [
      "a whole step and a member of its output",
      mappingStep("s", "{{steps.a}} {{steps.b.output.x}}"),
      ["a", "b"],
    ],
    [
      "only a status or an error",
      mappingStep("s", ["{{steps.a.status}}", "{{steps.b.error.code}}"]),
      [],
    ],
    [
      "its own condition",
      mappingStep("s", 1, { when: { left: "{{steps.a.output}}", operator: "exists" } }),
      ["a"],
    ],
    [
      "an expression's input",
      step("transform", "s", { expression: "x", input: "{{steps.a.output}}" }),
      ["a"],
    ],
    [
      "an expression that sees everything",
      step("transform", "s", { expression: "steps.a" }),
      "all",
    ],
    [
      "a loop's condition, and not its body",
      loopStep("s", [mappingStep("in", "{{steps.b.output}}")], {
        while: { left: "{{steps.in.output}}", operator: "exists" },
      }),
      ["in"],
    ],
  ])("are those that its templates name: %s", (_what, given, reads) => {
    expect(compileDefinition({ trigger, steps: [given] }).steps[0]?.readsOutputs).toEqual(reads);
  });
});
