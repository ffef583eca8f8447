import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { canvasBlock, canvasState } from "../support/canvas.ts";
import {
  createActive,
  createInStatus,
  createWorkflow,
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
