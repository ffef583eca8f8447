import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { canvasBlock, canvasState } from "../support/canvas.ts";
import {
  createActive,
  createInStatus,
  createWorkflow,
  getWorkflow,
  postRun,
  transform,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const timestamp = z.iso.datetime();
/** The answer to a save, as the contract has it. */
const saved = z.strictObject({
  id: z.string(),
  canvasState: z.record(z.string(), z.unknown()),
  isVisual: z.literal(true),
  lastSavedAt: timestamp,
  lastModifiedAt: timestamp,
  updatedAt: timestamp,
});

const save = (id: string, body: unknown) =>
  system.call("PATCH", `/workflows/${id}/canvas`, { body });

const read = async (id: string) => (await system.call("GET", `/workflows/${id}`)).data;

const loop = (steps: unknown, config: object = { count: 2 }) => ({
  id: "loop",
  type: "loop",
  name: "loop",
  config: { ...config, steps },
});
const parallel = (config: object) => ({ id: "par", type: "parallel", name: "par", config });

describe("PATCH /workflows/{id}/canvas", () => {
  it("stores the editor's state as it was sent and leaves what was not given", async () => {
    const workflow = await createWorkflow(system);
    const state = canvasState([canvasBlock("greet", { extra: { kept: [1.5, null] } })]);
    const answer = await save(workflow.id, { canvasState: state });
    expect(answer.status).toBe(200);
    const result = saved.parse(answer.data);
    expect(result).toMatchObject({ id: workflow.id, canvasState: state });
    expect(await read(workflow.id)).toEqual({
      ...workflow,
      updatedAt: result.updatedAt,
      canvasState: state,
      isVisual: true,
      lastSavedAt: result.lastSavedAt,
      lastModifiedAt: result.lastModifiedAt,
    });
    expect(await system.call("GET", "/workflows?search=Greeting")).not.toHaveProperty(
      "data.0.canvasState",
    );
  });

  it("stores steps and trigger where they are given; in place while nothing can start them", async () => {
    for (const status of ["draft", "paused"] as const) {
      const id = await createInStatus(system, status);
      const body = {
        canvasState: canvasState(),
        steps: [transform("out", 7)],
        triggerConfig: { type: "manual" },
      };
      expect((await save(id, body)).status).toBe(200);
      expect(await read(id)).toMatchObject({
        status,
        version: 1,
        steps: body.steps,
        trigger: body.triggerConfig,
      });
    }
  });

  it("gives an active workflow a new version for steps or trigger, and not for the canvas (D20)", async () => {
    const id = await createActive(system, { steps: [transform("out", 1)] });
    expect((await save(id, { canvasState: canvasState() })).status).toBe(200);
    expect(await read(id)).toMatchObject({ status: "active", version: 1 });
    const steps = [transform("out", 2)];
    expect((await save(id, { canvasState: canvasState(), steps })).status).toBe(200);
    const run = await postRun(system, id, { mode: "sync" });
    expect(run).toMatchObject({ status: 200, data: { output: 2, workflowVersion: 2 } });
    const triggerConfig = { type: "manual" };
    expect((await save(id, { canvasState: canvasState(), triggerConfig })).status).toBe(200);
    expect(await read(id)).toMatchObject({ version: 3, trigger: triggerConfig, steps });
  });

  it("tells by its times when the workflow was changed by other means", async () => {
    const { id } = await createWorkflow(system);
    const { data } = await save(id, { canvasState: canvasState() });
    const { lastSavedAt } = saved.parse(data);
    expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
    expect(await read(id)).toMatchObject({ lastSavedAt, lastModifiedAt: lastSavedAt });
    await system.call("PUT", `/workflows/${id}`, { body: { name: "Other" } });
    const now = saved
      .partial()
      .loose()
      .parse(await read(id));
    expect(now.lastSavedAt).toBe(lastSavedAt);
    expect(now.lastModifiedAt).toBe(now.updatedAt);
    expect(String(now.lastModifiedAt) > lastSavedAt).toBe(true);
  });

  it("goes back with the version that it shows", async () => {
    const id = await createActive(system, { steps: [transform("out", 1)] });
    const first = canvasState([canvasBlock("first")]);
    await save(id, { canvasState: first });
    await save(id, { canvasState: canvasState([canvasBlock("second")]), steps: [] });
    const answer = await system.call("POST", `/workflows/${id}/versions/1/rollback`);
    expect(answer.status).toBe(200);
    expect(await read(id)).toMatchObject({ canvasState: first, steps: [transform("out", 1)] });
  });

  it("takes 500 blocks and their steps in one request", async () => {
    const id = await createActive(system);
    const ids = Array.from({ length: 500 }, (_, n) => `step-${n}`);
    const blocks = ids.map((each) =>
      canvasBlock(each, { subBlocks: { mapping: { value: "x".repeat(1_200) } } }),
    );
    const body = {
      canvasState: canvasState(blocks),
      steps: ids.map((each, n) => transform(each, n)),
    };
    expect(JSON.stringify(body).length).toBeGreaterThan(700_000);
    const answer = await save(id, body);
    expect(answer.status).toBe(200);
    expect(saved.parse(answer.data).canvasState).toEqual(body.canvasState);
    const run = await postRun(system, id, { mode: "sync" });
    expect(run).toMatchObject({ status: 200, data: { output: 499, workflowVersion: 2 } });
  });

  it("answers 413 to a body of more than 1 MiB", async () => {
    const { id } = await createWorkflow(system);
    const state = canvasState([canvasBlock("big", { name: "x".repeat(1024 * 1024) })]);
    expect(await save(id, { canvasState: state })).toMatchObject({
      status: 413,
      error: { code: "PAYLOAD_TOO_LARGE" },
    });
  });
});

describe("unfinished drafts", () => {
  const unfinished: [string, unknown][] = [
    ["an empty loop body", loop([])],
    ["a static parallel without branches", parallel({ branches: [] })],
    [
      "a shell with options",
      parallel({ branches: [], strategy: "wait-any", concurrency: 3, timeout: 5_000 }),
    ],
    ["an empty shell in a loop", loop([parallel({ branches: [] })])],
  ];

  it.each(unfinished)("may have %s, but not once it is active", async (_what, step) => {
    const body = { canvasState: canvasState(), steps: [step, transform("out", 1)] };
    const { id } = await createWorkflow(system);
    expect(await save(id, body)).toMatchObject({ status: 200, error: undefined });
    expect(await read(id)).toMatchObject({ steps: body.steps });

    const activation = await system.call("POST", `/workflows/${id}/activate`);
    expect(activation).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
    expect(await postRun(system, id)).toMatchObject({
      status: 400,
      error: { code: "WORKFLOW_NOT_ACTIVE" },
    });
    const put = await system.call("PUT", `/workflows/${id}`, { body: { steps: body.steps } });
    expect(put).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
    // What it does not touch does not stand in the way of an update.
    const renaming = await system.call("PUT", `/workflows/${id}`, { body: { name: "Renamed" } });
    expect(renaming).toMatchObject({ status: 200, data: { name: "Renamed" } });

    const active = await createActive(system);
    const before = await read(active);
    expect(await save(active, body)).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR" },
    });
    expect(await read(active)).toEqual(before);
  });

  it.each([
    ["a bad strategy", parallel({ branches: [], strategy: "no-such" }), "strategy"],
    ["a bad concurrency", parallel({ branches: [], concurrency: 0 }), "concurrency"],
    ["a bad timeout", parallel({ branches: [], timeout: -1 }), "timeout"],
    ["forEach beside branches", parallel({ branches: [], forEach: "{{input.items}}" }), ""],
    ["a loop over nothing", loop([], {}), ""],
    ["a body that is no list", loop({}), "steps"],
    ["an unknown type", { id: "x", type: "no-such", name: "x", config: {} }, "type"],
    ["an unknown step in a template", transform("x", "{{steps.gone.output}}"), "mapping"],
  ])("are refused with %s", async (_what, step, field) => {
    const { id } = await createWorkflow(system);
    const { status, error } = await save(id, { canvasState: canvasState(), steps: [step] });
    expect(status).toBe(400);
    expect(error?.code).toBe("VALIDATION_ERROR");
    const details = z.array(z.object({ path: z.array(z.string()) })).parse(error?.details);
    for (const { path } of details) expect(path.slice(0, 2)).toEqual(["steps", "0"]);
    if (field !== "") expect(details[0]?.path).toContain(field);
  });
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
        subBlocks: { provider: { value: "openai" }, model: { value: "claude-sonnet-4-5" } },
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

  it("an agent step whose model is another provider's, however deep", async () => {
    const { id } = await createWorkflow(system);
    const agent = {
      id: "ask",
      type: "agent",
      name: "ask",
      config: { agentId: "a", input: {}, provider: "anthropic", model: "gpt-5" },
    };
    const body = { canvasState: canvasState(), steps: [loop([agent])] };
    expect(await save(id, body)).toMatchObject({
      status: 400,
      error: {
        code: "VALIDATION_ERROR",
        details: [{ path: ["steps", "0", "config", "steps", "0", "config", "model"] }],
      },
    });
  });

  it("a trigger that never fires", async () => {
    const { id } = await createWorkflow(system);
    const triggerConfig = { type: "schedule", cron: "0 0 31 2 *" };
    expect(await save(id, { canvasState: canvasState(), triggerConfig })).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["trigger", "cron"] }] },
    });
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

describe("saves at the same time", () => {
  it.each(["draft", "active"] as const)(
    "with steps never lose one another's: all that were accepted followed each other (%s)",
    async (status) => {
      const id = await createInStatus(system, status);
      const bodies = Array.from({ length: 20 }, (_, n) => ({
        canvasState: canvasState([canvasBlock(`saver-${n}`)]),
        steps: [transform("out", n)],
      }));
      const answers = await Promise.all(bodies.map((body) => save(id, body)));
      const accepted = bodies.filter((_body, n) => answers[n]?.status === 200);
      const refused = answers.filter((answer) => answer.status !== 200);
      expect(accepted.length).toBeGreaterThan(0);
      for (const answer of refused) {
        expect(answer).toMatchObject({ status: 409, error: { code: "CONFLICT" } });
      }
      // Steps and canvas are of one save, never of two.
      const now = z
        .looseObject({ version: z.int(), canvasState: z.unknown() })
        .parse(await read(id));
      const winner = accepted.find(
        (body) => JSON.stringify(body.steps) === JSON.stringify(now["steps"]),
      );
      expect(now.canvasState).toEqual(winner?.canvasState);
      // Each accepted one is a version of its own, none is there twice.
      if (status === "draft") return;
      expect(now.version).toBe(accepted.length + 1);
      const { data } = await system.call("GET", `/workflows/${id}/versions`);
      const { versions } = z
        .object({ versions: z.array(z.object({ version: z.int(), steps: z.unknown() })) })
        .parse(data);
      const stored = versions.filter(({ version }) => version > 1).map(({ steps }) => steps);
      const texts = (values: unknown[]) => values.map((each) => JSON.stringify(each)).toSorted();
      expect(texts(stored)).toEqual(texts(accepted.map(({ steps }) => steps)));
      const run = await postRun(system, id, { mode: "sync" });
      expect(run).toMatchObject({ data: { output: versions[0] && outputOf(versions[0].steps) } });
    },
  );

  it("without steps are all accepted, and leave the steps of others alone", async () => {
    const id = await createActive(system);
    const steps = [transform("out", "by PUT")];
    const answers = await Promise.all([
      ...Array.from({ length: 19 }, (_, n) =>
        save(id, { canvasState: canvasState([canvasBlock(`saver-${n}`)]) }),
      ),
      system.call("PUT", `/workflows/${id}`, { body: { steps } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await read(id)).toMatchObject({ version: 2, steps });
  });

  it("with steps meet an activation or follow it, and what runs is what is stored", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await createWorkflow(system, { steps: [transform("out", "old")] });
      const body = { canvasState: canvasState(), steps: [transform("out", "new")] };
      const [saving, activation] = await Promise.all([
        save(id, body),
        system.call("POST", `/workflows/${id}/activate`),
      ]);
      expect(activation.status).toBe(200);
      expect([200, 409]).toContain(saving.status);
      const expected = saving.status === 200 ? "new" : "old";
      const run = await postRun(system, id, { mode: "sync" });
      expect(run).toMatchObject({ status: 200, data: { output: expected } });
    }
  });
});

function outputOf(steps: unknown): unknown {
  return z.array(z.object({ config: z.object({ mapping: z.unknown() }) })).parse(steps)[0]?.config
    .mapping;
}
