import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { makeAgent } from "../support/agents.ts";
import { canvasState } from "../support/canvas.ts";
import {
  createActive,
  createInStatus,
  getWorkflow,
  postRun,
  runToEnd,
  transform,
} from "../support/scenarios.ts";
import { createThreeVersions, listVersions, put, rollBack } from "../support/versions.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

describe("POST /workflows/{id}/versions/{version}/rollback", () => {
  it("makes a new version with the old content, at work at once in an active workflow", async () => {
    const id = await createThreeVersions(system);
    const { status, data } = await rollBack(system, id, 1, { changeSummary: "two was wrong" });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      id,
      name: "One",
      version: 4,
      status: "active",
      steps: [transform("out", 1)],
      rolledBackFrom: 3,
      rolledBackTo: 1,
    });
    expect(data).not.toHaveProperty("description");
    const run = await postRun(system, id, { mode: "sync" });
    expect(run).toMatchObject({ status: 200, data: { output: 1, workflowVersion: 4 } });
    const { versions } = await listVersions(system, id);
    expect(versions.map(({ version }) => version)).toEqual([4, 3, 2, 1]);
    expect(versions[0]).toMatchObject({ changeSummary: "two was wrong", isCurrent: true });
    expect(versions[1]).toMatchObject({ version: 3, status: "archived", description: "Three" });
  });

  it.each(["draft", "paused"] as const)("always makes a new version: %s (D20)", async (status) => {
    const id = await createInStatus(system, status, { name: "Before" });
    await put(system, id, { name: "After" });
    const answer = await rollBack(system, id, 1);
    expect(answer).toMatchObject({
      status: 200,
      data: { version: 2, status, name: "After", rolledBackFrom: 1, rolledBackTo: 1 },
    });
    const { versions } = await listVersions(system, id);
    expect(versions).toMatchObject([
      { version: 2, changeSummary: "Rollback to version 1" },
      { version: 1, status: "archived" },
    ]);
    expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
    expect(await runToEnd(system, id)).toMatchObject({ status: "completed", workflowVersion: 2 });
  });

  it("keeps the canvas that is there when the version has none", async () => {
    const id = await createThreeVersions(system);
    const state = canvasState();
    const saving = await system.call("PATCH", `/workflows/${id}/canvas`, {
      body: { canvasState: state },
    });
    expect(saving.status).toBe(200);
    expect((await rollBack(system, id, 1)).status).toBe(200);
    const { data } = await system.call("GET", `/workflows/${id}`);
    expect(data).toMatchObject({ version: 4, steps: [transform("out", 1)], canvasState: state });
  });

  it("is refused for an archived workflow, which stays as it is", async () => {
    const id = await createInStatus(system, "archived");
    expect(await rollBack(system, id, 1, {})).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: { currentStatus: "archived" } },
    });
    expect((await listVersions(system, id)).currentVersion).toBe(1);
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
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? rollBack(system, id, 1 + (n % 3))
          : system.call("PUT", `/workflows/${id}`, { body: { steps: [transform("out", n)] } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { versions, currentVersion } = await listVersions(system, id);
    expect(currentVersion).toBe(23);
    expect(versions.map(({ version }) => version)).toEqual(
      Array.from({ length: 23 }, (_, index) => 23 - index),
    );
    const now = await getWorkflow(system, id);
    const run = await postRun(system, id, { mode: "sync" });
    expect(run).toMatchObject({ status: 200, data: { workflowVersion: 23 } });
    expect(now.steps).toEqual(versions[0]?.steps);
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
