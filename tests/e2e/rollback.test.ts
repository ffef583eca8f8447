import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { WorkflowClient } from "@workflow/client";
import { z } from "zod";
import { makeAgent } from "../support/agents.ts";
import { canvasState } from "../support/canvas.ts";
import { clientOf } from "../support/client.ts";
import { createActive, createInStatus, runToEnd, transform } from "../support/scenarios.ts";
import { createThreeVersions, listVersions, put, rollBack } from "../support/versions.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let client: WorkflowClient;
beforeAll(async () => {
  system = await startWholeSystem();
  client = clientOf(system);
});
afterAll(() => system.stop());

describe("POST /workflows/{id}/versions/{version}/rollback", () => {
  it("makes a new version with the old content, at work at once in an active workflow", async () => {
    const id = await createThreeVersions(system);
    const summary = { changeSummary: "two was wrong" };
    const workflow = await client.versions.rollback(id, 1, summary);
    expect(workflow).toMatchObject({
      id,
      name: "One",
      version: 4,
      status: "active",
      steps: [transform("out", 1)],
      rolledBackFrom: 3,
      rolledBackTo: 1,
    });
    expect(workflow).not.toHaveProperty("description");
    const run = await client.workflows.run(id, { mode: "sync" });
    expect(run).toMatchObject({ output: 1, workflowVersion: 4 });
    const versions = await client.versions.list(id).all();
    expect(versions.map(({ version }) => version)).toEqual([4, 3, 2, 1]);
    expect(versions[0]).toMatchObject({ ...summary, isCurrent: true });
    expect(versions[1]).toMatchObject({ version: 3, status: "archived", description: "Three" });
  });

  it.each(["draft", "paused"] as const)("always makes a new version: %s (D20)", async (status) => {
    const id = await createInStatus(system, status, { name: "Before" });
    await client.workflows.update(id, { name: "After" });
    const workflow = await client.versions.rollback(id, 1);
    const rolled = { version: 2, status, name: "After", rolledBackFrom: 1, rolledBackTo: 1 };
    expect(workflow).toMatchObject(rolled);
    expect(await client.versions.list(id).all()).toMatchObject([
      { version: 2, changeSummary: "Rollback to version 1" },
      { version: 1, status: "archived" },
    ]);
    await client.workflows.activate(id);
    expect(await runToEnd(system, id)).toMatchObject({ status: "completed", workflowVersion: 2 });
  });

  it("keeps the canvas that is there when the version has none", async () => {
    const id = await createThreeVersions(system);
    const state = canvasState();
    const saving = { body: { canvasState: state } };
    expect((await system.call("PATCH", `/workflows/${id}/canvas`, saving)).status).toBe(200);
    await client.versions.rollback(id, 1);
    const workflow = await client.workflows.get(id);
    const kept = { version: 4, steps: [transform("out", 1)], canvasState: state };
    expect(workflow).toMatchObject(kept);
  });

  it("is refused for an archived workflow, which stays as it is", async () => {
    const id = await createInStatus(system, "archived");
    await expect(client.versions.rollback(id, 1)).rejects.toMatchObject({
      status: 400,
      code: "BAD_REQUEST",
      details: { currentStatus: "archived" },
    });
    expect(await client.workflows.get(id)).toMatchObject({ version: 1 });
  });

  it("of an active workflow is refused like its activation, and changes nothing", async () => {
    const id = await createInStatus(system, "draft");
    const loop = (steps: unknown[]) => ({
      ...transform("loop", null),
      type: "loop",
      config: { count: 1, steps },
    });
    const drawn = { canvasState: canvasState(), steps: [loop([])] };
    expect((await system.call("PATCH", `/workflows/${id}/canvas`, { body: drawn })).status).toBe(
      200,
    );
    const activate = () => system.call("POST", `/workflows/${id}/activate`);
    const refusal = await activate();
    expect(refusal).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
    // Archives the unfinished version.
    expect((await rollBack(system, id, 1)).status).toBe(200);
    await put(system, id, { steps: [loop([transform("in", 1)])] });
    expect((await activate()).status).toBe(200);
    const read = async () => (await system.call("GET", `/workflows/${id}`)).data;
    const before = await read();
    const answer = await rollBack(system, id, 1);
    expect(answer).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: refusal.error?.details },
    });
    expect(await read()).toEqual(before);
    expect((await listVersions(system, id)).currentVersion).toBe(2);
    expect(await runToEnd(system, id)).toMatchObject({ status: "completed", workflowVersion: 2 });
  });

  it("takes what an activation takes: whether an agent or a table is there is asked by the run", async () => {
    const agentId = await makeAgent(system, system.acme.key);
    const made = await system.call("POST", "/tables", { body: { name: "Gone soon" } });
    const { id: tableId } = z.object({ id: z.string() }).parse(made.data);
    const steps = (step: object) => [{ id: "use", name: "Use", ...step }];
    const asking = steps({ type: "agent", config: { agentId, input: {} } });
    const reading = steps({ type: "action", action: "table.query", config: { tableId } });
    for (const [path, definition, code] of [
      [`/agents/${agentId}`, asking, "AGENT_DEPRECATED"],
      [`/tables/${tableId}`, reading, "TABLE_NOT_FOUND"],
    ] as const) {
      const id = await createActive(system, { steps: definition });
      await put(system, id, { steps: [transform("out", 1)] });
      expect((await system.call("DELETE", path)).status).toBe(200);
      expect((await rollBack(system, id, 1)).status).toBe(200);
      expect((await system.call("POST", `/workflows/${id}/pause`)).status).toBe(200);
      expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
      expect(await runToEnd(system, id)).toMatchObject({ status: "failed", error: { code } });
    }
  });

  it("keeps numbers without gaps when many roll back and update at the same time", async () => {
    const id = await createThreeVersions(system);
    const step = { id: "out", type: "transform", name: "out" } as const;
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) =>
        n % 2 === 0
          ? client.versions.rollback(id, 1 + (n % 3))
          : client.workflows.update(id, { steps: [{ ...step, config: { mapping: n } }] }),
      ),
    );
    const versions = await client.versions.list(id).all();
    expect(versions.map(({ version }) => version)).toEqual(
      Array.from({ length: 23 }, (_, index) => 23 - index),
    );
    const now = await client.workflows.get(id);
    const run = await client.workflows.run(id, { mode: "sync" });
    expect(run).toMatchObject({ status: "completed", workflowVersion: 23 });
    expect(now).toMatchObject({ version: 23, steps: versions[0]?.steps });
  });

  it.each([[{ changeSummary: 7 }], [{ changeSummary: "x".repeat(10_001) }], [[]]])(
    "refuses the body %#",
    async (body) => {
      const id = await createThreeVersions(system);
      expect(await rollBack(system, id, 1, body)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    },
  );
});
