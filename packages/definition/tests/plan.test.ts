import { describe, expect, it } from "@jest/globals";
import { planDefinition } from "../src/index.ts";
import {
  actionStep,
  forEachStep,
  httpStep,
  ifStep,
  loopStep,
  mappingStep,
  parallelStep,
  step,
} from "./definition.ts";
import { workflowId, now, plan, planSteps } from "./plan.ts";

describe("connections", () => {
  const signed = (auth: object, over: object = {}) =>
    httpStep("h", { config: { method: "GET", url: "https://x.y", auth, ...over } });
  const customer = (connectionId: unknown) =>
    actionStep("c", "stripe.getCustomer", { customer: "cus_1", connectionId });

  it("that are null are not named, whoever says so", () => {
    const nameless = { type: "connection", connectionId: null, provider: "stripe" };
    const none = { namedConnections: [], unnamedProviders: ["stripe"] };
    expect(planSteps([signed(nameless)])).toMatchObject(none);
    expect(planSteps([customer("{{input.nope}}")])).toMatchObject(none);
    expect(planSteps([customer(null)])).toMatchObject(none);
    expect(planSteps([signed(nameless, { connectionId: "conn_9" })])).toMatchObject({
      namedConnections: [{ connectionId: "conn_9", provider: "stripe" }],
      unnamedProviders: [],
    });
  });

  it("are named by the request before the step", () => {
    const auth = { type: "connection", connectionId: "conn_1" };
    expect(planSteps([signed(auth, { connectionId: "conn_2" })])).toMatchObject({
      namedConnections: [{ connectionId: "conn_1" }],
    });
  });
});

it("names the agents that steps ask, each once, as far as they are known before the run", () => {
  const ask = (id: string, agentId: unknown) => ({
    id,
    type: "agent",
    name: id,
    config: { agentId, input: {} },
  });
  const { agentIds } = planSteps(
    [
      ask("a", "agent_content"),
      loopStep("l", [ask("b", "{{input.agent}}"), ask("c", "agent_content")]),
      ask("d", "{{steps.a.output.agent}}"),
      ask("e", "{{input.nothing}}"),
      ask("f", 5),
    ],
    { agent: "agent_transform" },
  );
  expect(agentIds).toEqual(["agent_content", "agent_transform"]);
});

describe("steps", () => {
  it("are told in document order with their paths, without nested steps in their configs", () => {
    const { steps } = planSteps([
      mappingStep("first", 1),
      ifStep("c", 1, [mappingStep("yes", 1)], [mappingStep("no", 1)]),
      parallelStep("p", [[loopStep("l", [mappingStep("deep", 1)])]]),
      forEachStep("f", [httpStep("each")]),
    ]);
    expect(steps.map(({ path, id, type, action }) => [path, id, type, action])).toEqual([
      ["first", "first", "transform", undefined],
      ["c", "c", "condition", undefined],
      ["c.then.yes", "yes", "transform", undefined],
      ["c.else.no", "no", "transform", undefined],
      ["p", "p", "parallel", undefined],
      ["p.b0.l", "l", "loop", undefined],
      ["p.b0.l.deep", "deep", "transform", undefined],
      ["f", "f", "parallel", undefined],
      ["f.each", "each", "action", "http.request"],
    ]);
    const configs = Object.fromEntries(steps.map(({ id, resolvedConfig }) => [id, resolvedConfig]));
    expect(configs).toMatchObject({
      p: { branches: [{ id: "b0" }] },
      l: { items: null },
      f: { forEach: null },
    });
    expect(JSON.stringify(Object.values(configs))).not.toContain('"steps"');
    expect(configs["c"]).toEqual({ if: { left: 1, operator: "exists" } });
  });

  it("show templates resolved that the input decides, and all others as they are written", () => {
    const mapping = {
      typed: "{{ input.n }}",
      text: "No. {{input.n}} of {{run.workflowId}} v{{run.version}}",
      missing: "{{input.nope}}",
      partly: "{{input.n}} {{ steps.first.output }} {{secrets.KEY}} {{run.id}} {{trigger.x}}",
      secret: "{{ secrets.KEY }}",
      escaped: String.raw`\{{input.n}} {{input.n}}`,
      "{{input.n}}": ["{{input.o.list[1]}}"],
    };
    const input = { n: 7, o: { list: [1, { deep: "{{secrets.KEY}}" }] } };
    const { steps } = planSteps([mappingStep("first", 1), mappingStep("m", mapping)], input);
    expect(steps[1]?.resolvedConfig).toEqual({
      mapping: {
        typed: 7,
        text: `No. 7 of ${workflowId} v3`,
        missing: null,
        partly: "7 {{ steps.first.output }} {{secrets.KEY}} {{run.id}} {{trigger.x}}",
        secret: "{{ secrets.KEY }}",
        escaped: "{{input.n}} 7",
        "{{input.n}}": [{ deep: "{{secrets.KEY}}" }],
      },
    });
  });

  it("keep what belongs to an iteration, and JSONata, as it is written", () => {
    const { steps } = planSteps(
      [
        loopStep("l", [mappingStep("m", "{{loop.item}}")], {
          while: { left: "{{loop.index}}", operator: "less_than", right: "{{input.n}}" },
        }),
        step("transform", "j", { expression: '"{{input.n}}"', input: "{{input.n}}" }),
      ],
      { n: 2 },
    );
    expect(steps.map(({ resolvedConfig }) => resolvedConfig)).toEqual([
      { while: { left: "{{loop.index}}", operator: "less_than", right: 2 } },
      { mapping: "{{loop.item}}" },
      { expression: '"{{input.n}}"', input: 2 },
    ]);
  });

  it("keep the placeholders of a text that is filled in from values", () => {
    const config = { template: "{{input.a}} {{a}} {{steps}}", values: { a: "{{input.a}}" } };
    const { steps, valid } = planSteps(
      [actionStep("t", "text.template", { ...config, template: "{{input.a}} {{a}}" })],
      { a: "x" },
    );
    expect(steps[0]?.resolvedConfig).toEqual({ template: "x {{a}}", values: { a: "x" } });
    expect(valid).toBe(true);
  });

  it("keep a key called __proto__", () => {
    const steps: unknown = JSON.parse(
      '[{"id":"a","type":"transform","name":"a","config":{"mapping":{"__proto__":"{{input.__proto__}}"}}}]',
    );
    const input: unknown = JSON.parse('{"__proto__":5}');
    const planned = plan({ steps }, input).steps;
    expect(JSON.stringify(planned[0]?.resolvedConfig)).toBe('{"mapping":{"__proto__":5}}');
  });
});

describe("secretKeys", () => {
  it("are told wherever they stand, also of a definition that is not valid", () => {
    const steps = [
      mappingStep("a", "{{secrets.A}}", { when: { left: "{{secrets.B}}", operator: "exists" } }),
      loopStep("l", [mappingStep("a", "{{secrets.A}} {{secrets['C']}}")]),
    ];
    const { secretKeys, valid } = planSteps(steps);
    expect(secretKeys).toEqual(["B", "A", "C"]);
    expect(valid).toBe(false);
  });
});

describe("nextRunAt", () => {
  it("has the next five firings of a schedule, on or off, through a clock change", () => {
    const trigger = {
      type: "schedule",
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
      enabled: false,
    };
    const { nextRunAt } = plan({ trigger, steps: [] });
    expect(nextRunAt.map((at) => at.toISOString())).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
      "2026-03-31T00:30:00.000Z",
      "2026-04-01T00:30:00.000Z",
      "2026-04-02T00:30:00.000Z",
    ]);
  });

  it.each([[{ type: "api" }], [{ type: "schedule", cron: "never" }], [undefined]])(
    "is empty for the trigger %j",
    (trigger) => {
      expect(
        planDefinition(
          { trigger, steps: [] },
          { violations: [], input: {}, workflowId, version: 1, now },
        ),
      ).toMatchObject({ nextRunAt: [] });
    },
  );
});

describe("a hostile definition or input", () => {
  it("does not make the plan larger than a few times what was sent", () => {
    const input = { big: "x".repeat(900_000) };
    const steps = Array.from({ length: 500 }, (_, index) =>
      mappingStep(`s${index}`, "{{input.big}}"),
    );
    const planned = planSteps(steps, input);
    expect(planned.valid).toBe(true);
    expect(JSON.stringify(planned).length).toBeLessThan(6_000_000);
    expect(planned.steps).toHaveLength(500);
  });

  it.each<[string, unknown]>([
    ["no steps", undefined],
    ["steps of all sorts", [null, 5, [], { id: 1 }, { id: "a", type: "loop", config: null }]],
    ["branches of all sorts", [step("parallel", "p", { branches: [null, 5, { steps: 5 }] })]],
    ["a condition of nothing", [step("condition", "c", { if: null, then: 5, branches: {} })]],
    ["JSON that is deep", deep(5_000)],
    ["blocks that are deep", deepLoops(60)],
    ["too many steps", Array.from({ length: 1_500 }, (_, index) => mappingStep(`s${index}`, 1))],
  ])("is planned without an error: %s", (_, steps) => {
    const planned = plan({ steps });
    expect(planned.valid).toBe(false);
    expect(planned.problems.length).toBeGreaterThan(0);
  });
});

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return [mappingStep("a", value)];
}

function deepLoops(levels: number): unknown {
  let steps: object[] = [mappingStep("x", 1)];
  for (let level = 0; level < levels; level += 1) {
    steps = [step("loop", `l${level}`, { count: 1, steps })];
  }
  return steps;
}
