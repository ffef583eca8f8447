import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { WorkflowClient } from "@workflow/client";
import { canvasState } from "../support/canvas.ts";
import { clientOf } from "../support/client.ts";
import { createInStatus, createWorkflow, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let client: WorkflowClient;
beforeAll(async () => {
  system = await startWholeSystem();
  client = clientOf(system);
});
afterAll(() => system.stop());

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
      const copy = await client.workflows.clone(id, { name: "Copy" });
      const changed = { name: "Copy", status: "draft", version: 1, clonedFrom: id };
      expect(copy).toMatchObject({ ...FULL, ...changed });
      expect(copy.id).not.toBe(id);
      expect(await client.workflows.get(copy.id)).toEqual(copy);
      await client.workflows.activate(copy.id);
      expect(await client.workflows.get(id)).toMatchObject({ status });
    },
  );

  it("copies the canvas, not the secrets and not the history", async () => {
    const { id } = await createWorkflow(system, FULL);
    const body = { canvasState: canvasState() };
    await system.call("PATCH", `/workflows/${id}/canvas`, { body });
    await client.secrets.create(id, { key: "TOKEN", value: "hush-hush" });
    await client.versions.rollback(id, 1);
    const { id: copy } = await client.workflows.clone(id, { name: "Copy" });
    const now = await client.workflows.get(copy);
    expect(now).toMatchObject({ ...body, isVisual: true, version: 1 });
    expect(await client.secrets.list(copy).all()).toEqual([]);
    expect(await client.versions.list(copy).all()).toMatchObject([{ version: 1 }]);
  });

  it("takes an unfinished draft over as it is", async () => {
    const { id } = await createWorkflow(system);
    const steps = [{ id: "loop", type: "loop", name: "loop", config: { count: 1, steps: [] } }];
    const body = { canvasState: canvasState(), steps };
    await system.call("PATCH", `/workflows/${id}/canvas`, { body });
    expect(await client.workflows.clone(id, { name: "Copy" })).toMatchObject({ steps });
  });

  it.each([[{}], [{ name: "" }], [{ name: null }], [{ name: 7 }], [{ name: "x".repeat(256) }]])(
    "refuses the body %j",
    async (body) => {
      const { id } = await createWorkflow(system);
      expect(await system.call("POST", `/workflows/${id}/clone`, { body })).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["name"] }] },
      });
    },
  );
});
