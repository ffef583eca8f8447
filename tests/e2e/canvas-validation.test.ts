import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { canvasBlock, canvasState } from "../support/canvas.ts";
import { createInStatus, createWorkflow, getWorkflow } from "../support/scenarios.ts";
import { AGENT_MODELS, startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const save = (id: string, body: unknown) =>
  system.call("PATCH", `/workflows/${id}/canvas`, { body });

const loop = (steps: unknown, config: object = { count: 2 }) => ({
  id: "loop",
  type: "loop",
  name: "loop",
  config: { ...config, steps },
});

describe("what is not valid", () => {
  const block = canvasBlock("b");
  const without = (key: string) =>
    Object.fromEntries(Object.entries(block).filter(([name]) => name !== key));
  const withBlock = (changes: object) => ({
    canvasState: { ...canvasState(), blocks: { b: changes } },
  });

  it.each([
    ["no canvasState", {}, ["canvasState"]],
    ["canvasState null", { canvasState: null }, ["canvasState"]],
    ["canvasState as an array", { canvasState: [] }, ["canvasState"]],
    ...(["blocks", "edges", "loops", "parallels"] as const).map(
      (key): [string, unknown, string[]] => [
        `no ${key}`,
        { canvasState: { ...canvasState(), [key]: undefined } },
        ["canvasState", key],
      ],
    ),
    [
      "blocks as an array",
      { canvasState: { ...canvasState(), blocks: [] } },
      ["canvasState", "blocks"],
    ],
    ["edges as a map", { canvasState: { ...canvasState(), edges: {} } }, ["canvasState", "edges"]],
    [
      "a viewport that is no object",
      { canvasState: { ...canvasState(), viewport: 1 } },
      ["canvasState", "viewport"],
    ],
    ...Object.keys(block).map((key): [string, unknown, string[]] => [
      `a block without ${key}`,
      withBlock(without(key)),
      ["canvasState", "blocks", "b", key],
    ]),
    [
      "a position without y",
      withBlock({ ...block, position: { x: 1 } }),
      ["canvasState", "blocks", "b", "position", "y"],
    ],
    [
      "a position as texts",
      withBlock({ ...block, position: { x: "1", y: 1 } }),
      ["canvasState", "blocks", "b", "position", "x"],
    ],
    ...["id", "nodes", "enabled"].map((key): [string, unknown, string[]] => [
      `a parallel without ${key}`,
      {
        canvasState: canvasState([], {
          parallels: { p: { id: "p", nodes: ["b"], enabled: true, [key]: undefined } },
        }),
      },
      ["canvasState", "parallels", "p", key],
    ]),
    [
      "a block under another key than its id",
      withBlock(canvasBlock("c")),
      ["canvasState", "blocks", "b", "id"],
    ],
    [
      "a parallel under another key than its id",
      {
        canvasState: canvasState([], {
          parallels: { p: { id: "q", nodes: [], enabled: true } },
        }),
      },
      ["canvasState", "parallels", "p", "id"],
    ],
    ["steps null", { canvasState: canvasState(), steps: null }, ["steps"]],
    ["steps as a map", { canvasState: canvasState(), steps: {} }, ["steps"]],
    ["triggerConfig null", { canvasState: canvasState(), triggerConfig: null }, ["triggerConfig"]],
    [
      "an agent of no provider",
      withBlock({ ...block, type: "agent", subBlocks: { provider: { value: "acme" } } }),
      ["canvasState", "blocks", "b", "subBlocks", "provider", "value"],
    ],
    [
      "an agent with another provider's model",
      withBlock({
        ...block,
        type: "agent",
        subBlocks: { provider: { value: "openai" }, model: { value: AGENT_MODELS.anthropic } },
      }),
      ["canvasState", "blocks", "b", "subBlocks", "model", "value"],
    ],
  ])("%s", async (_what, body, path) => {
    const workflow = await createWorkflow(system);
    const { status, error } = await save(workflow.id, body);
    expect(status).toBe(400);
    expect(error).toMatchObject({
      code: "BAD_REQUEST",
      details: [{ path, message: expect.stringMatching(/must be|is /) }],
    });
    expect(await getWorkflow(system, workflow.id)).toEqual(workflow);
  });

  const { openai, anthropic } = AGENT_MODELS;
  const agentBlock = (fields: Record<string, unknown>) =>
    withBlock({
      ...block,
      type: "agent",
      subBlocks: Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [name, { id: name, value }]),
      ),
    });
  /** Choices of provider and model that are not offered, and the member that has to change (D43). */
  const unsupported: [Record<string, unknown>, string][] = [
    [{ provider: "openai", model: "nonsense" }, "model"],
    [{ provider: "anthropic", model: openai }, "model"],
    [{ provider: "openai", model: `${openai}-mini` }, "model"],
    [{ model: "nonsense" }, "model"],
    [{ model: 7 }, "model"],
    [{ provider: 5 }, "provider"],
    [{ provider: "acme", model: openai }, "provider"],
  ];
  const supported: Record<string, unknown>[] = [
    { provider: "openai", model: openai },
    { provider: "anthropic", model: anthropic },
    { provider: "anthropic" },
    { model: anthropic },
    { provider: "", model: null },
    { provider: "{{input.provider}}", model: "{{input.model}}" },
  ];
  const agentStep = (config: object) => ({
    id: "ask",
    type: "agent",
    name: "ask",
    config: { agentId: "a", input: {}, ...config },
  });

  it.each(unsupported)("an agent block with %j", async (choice, field) => {
    const { id } = await createWorkflow(system);
    expect(await save(id, agentBlock(choice))).toMatchObject({
      status: 400,
      error: {
        code: "BAD_REQUEST",
        details: [{ path: ["canvasState", "blocks", "b", "subBlocks", field, "value"] }],
      },
    });
  });

  it.each(unsupported)(
    "an agent step with %j, however deep, and as overrides",
    async (choice, field) => {
      const { id } = await createWorkflow(system);
      const inLoop = ["steps", "0", "config", "steps", "0", "config"];
      for (const [config, place] of [
        [choice, []],
        [{ overrides: choice }, ["overrides"]],
      ] as const) {
        const body = { canvasState: canvasState(), steps: [loop([agentStep(config)])] };
        expect(await save(id, body)).toMatchObject({
          status: 400,
          error: { code: "VALIDATION_ERROR", details: [{ path: [...inLoop, ...place, field] }] },
        });
      }
    },
  );

  it("an override that does not go with the step's own provider", async () => {
    const { id } = await createWorkflow(system);
    const steps = [agentStep({ provider: "anthropic", overrides: { model: openai } })];
    expect(await save(id, { canvasState: canvasState(), steps })).toMatchObject({
      status: 400,
      error: { details: [{ path: ["steps", "0", "config", "overrides", "model"] }] },
    });
  });

  it.each(supported)("not an agent with %j", async (choice) => {
    const { id } = await createWorkflow(system);
    const steps = [agentStep(choice)];
    expect(await save(id, { ...agentBlock(choice), steps })).toMatchObject({
      status: 200,
      error: undefined,
    });
  });

  it.each(["blocks", "loops", "parallels"])(
    "an entry of %s that is called __proto__ and is none",
    async (map) => {
      const { id } = await createWorkflow(system);
      const raw = JSON.stringify({
        canvasState: { ...canvasState([]), [map]: { PROTO: 5 } },
      }).replace("PROTO", "__proto__");
      const answer = await system.call("PATCH", `/workflows/${id}/canvas`, { raw });
      expect(answer).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["canvasState", map, "__proto__"] }] },
      });
    },
  );

  it("not a block that is called __proto__ and is one, nor a viewport that is null", async () => {
    const { id } = await createWorkflow(system);
    const raw = JSON.stringify({
      canvasState: { ...canvasState([canvasBlock("PROTO")]), viewport: null },
    }).replaceAll("PROTO", "__proto__");
    const answer = await system.call("PATCH", `/workflows/${id}/canvas`, { raw });
    expect(answer).toMatchObject({ status: 200, error: undefined });
    expect(JSON.stringify(answer.data)).toContain('"__proto__":{"id":"__proto__"');
  });

  it("a trigger that never fires", async () => {
    const { id } = await createWorkflow(system);
    const triggerConfig = { type: "schedule", cron: "0 0 31 2 *" };
    expect(await save(id, { canvasState: canvasState(), triggerConfig })).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["triggerConfig", "cron"] }] },
    });
  });

  it("a webhook trigger without a path, named as it was sent", async () => {
    for (const status of ["draft", "active"] as const) {
      const id = await createInStatus(system, status);
      const body = { canvasState: canvasState(), triggerConfig: { type: "webhook" } };
      expect(await save(id, body)).toMatchObject({
        status: 400,
        error: { code: "VALIDATION_ERROR", details: [{ path: ["triggerConfig", "path"] }] },
      });
    }
  });

  it("reports many problems at once, at most 50", async () => {
    const { id } = await createWorkflow(system);
    const blocks = Array.from({ length: 60 }, (_, n) => canvasBlock(`b${n}`, { enabled: "yes" }));
    const { error } = await save(id, { canvasState: canvasState(blocks) });
    expect(error?.details).toHaveLength(50);
  });

  it("an archived workflow", async () => {
    const id = await createInStatus(system, "archived");
    expect(await save(id, { canvasState: canvasState() })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: { currentStatus: "archived" } },
    });
  });
});
