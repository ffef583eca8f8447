import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { canvasState } from "../support/canvas.ts";
import { createInStatus, createWorkflow, transform } from "../support/scenarios.ts";
import { workflowSchema } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const clone = (id: string, body: unknown) =>
  system.call("POST", `/workflows/${id}/clone`, { body });

const FULL = {
  name: "Original",
  description: "Says hello",
  steps: [transform("greet", "Hello {{secrets.TOKEN}}")],
  inputSchema: { type: "object" },
  outputSchema: { type: "string" },
  settings: { timeoutMs: 1_000, tags: ["a"] },
};

describe("POST /workflows/{id}/clone", () => {
  it.each(["draft", "active", "paused", "archived"] as const)(
    "copies a workflow that is %s into a draft of version 1",
    async (status) => {
      const id = await createInStatus(system, status, FULL);
      const answer = await clone(id, { name: "Copy" });
      expect(answer.status).toBe(201);
      const { clonedFrom, ...copy } = workflowSchema
        .extend({ clonedFrom: workflowSchema.shape.id })
        .parse(answer.data);
      expect(clonedFrom).toBe(id);
      expect(copy).toMatchObject({ ...FULL, name: "Copy", status: "draft", version: 1 });
      expect(copy.id).not.toBe(id);
      const { data } = await system.call("GET", `/workflows/${copy.id}`);
      expect(data).toEqual(answer.data);
      expect((await system.call("POST", `/workflows/${copy.id}/activate`)).status).toBe(200);
      expect((await system.call("GET", `/workflows/${id}`)).data).toMatchObject({ status });
    },
  );

  it("copies the canvas, not the secrets and not the history", async () => {
    const { id } = await createWorkflow(system, FULL);
    const body = { canvasState: canvasState() };
    await system.call("PATCH", `/workflows/${id}/canvas`, { body });
    const secret = { key: "TOKEN", value: "hush-hush" };
    await system.call("POST", `/workflows/${id}/secrets`, { body: secret });
    await system.call("POST", `/workflows/${id}/versions/1/rollback`);
    const copy = workflowSchema.shape.id.parse(Object((await clone(id, { name: "Copy" })).data).id);
    expect((await system.call("GET", `/workflows/${copy}`)).data).toMatchObject({
      ...body,
      isVisual: true,
      version: 1,
    });
    expect((await system.call("GET", `/workflows/${copy}/secrets`)).data).toEqual([]);
    expect((await system.call("GET", `/workflows/${copy}/versions`)).data).toMatchObject({
      currentVersion: 1,
      versions: [{ version: 1 }],
    });
  });

  it("takes an unfinished draft over as it is", async () => {
    const { id } = await createWorkflow(system);
    const steps = [{ id: "loop", type: "loop", name: "loop", config: { count: 1, steps: [] } }];
    await system.call("PATCH", `/workflows/${id}/canvas`, {
      body: { canvasState: canvasState(), steps },
    });
    expect(await clone(id, { name: "Copy" })).toMatchObject({ status: 201, data: { steps } });
  });

  it.each([[{}], [{ name: "" }], [{ name: null }], [{ name: 7 }], [{ name: "x".repeat(256) }]])(
    "refuses the body %j",
    async (body) => {
      const { id } = await createWorkflow(system);
      expect(await clone(id, body)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["name"] }] },
      });
    },
  );
});
