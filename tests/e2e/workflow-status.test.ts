import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createInStatus,
  createWorkflow,
  getWorkflow,
  postRun,
  runToEnd,
  transform,
  waitForRun,
  runIdOf,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const STATUSES = ["draft", "active", "paused", "archived"] as const;
type Status = (typeof STATUSES)[number];

const TRANSITIONS: Record<Status, Status[]> = {
  draft: ["active", "archived"],
  active: ["paused", "archived"],
  paused: ["active", "archived"],
  archived: [],
};

describe.each([
  ["activate", "active"],
  ["pause", "paused"],
] as const)("POST /workflows/{id}/%s", (verb, target) => {
  it.each(STATUSES)("of a workflow that is %s follows the table of statuses", async (status) => {
    const id = await createInStatus(system, status);
    const answer = await system.call("POST", `/workflows/${id}/${verb}`);
    if (TRANSITIONS[status].includes(target)) {
      expect(answer).toMatchObject({ status: 200, data: { id, status: target } });
      expect((await getWorkflow(system, id)).status).toBe(target);
    } else {
      expect(answer.status).toBe(400);
      expect(answer.error).toMatchObject({
        code: "BAD_REQUEST",
        details: {
          currentStatus: status,
          targetStatus: target,
          allowedTransitions: TRANSITIONS[status],
        },
      });
      expect((await getWorkflow(system, id)).status).toBe(status);
    }
    expect((await getWorkflow(system, id)).version).toBe(1);
  });

  it("answers with id and status alone", async () => {
    const id = await createInStatus(system, target === "active" ? "draft" : "active");
    const answer = await system.call("POST", `/workflows/${id}/${verb}`);
    expect(answer.data).toEqual({ id, status: target });
  });

  it("takes no body, an empty object, and fields that nobody knows", async () => {
    for (const body of [undefined, {}, { status: "archived", version: 9 }]) {
      const id = await createInStatus(system, target === "active" ? "draft" : "active");
      const answer = await system.call("POST", `/workflows/${id}/${verb}`, { body });
      expect(answer).toMatchObject({ status: 200, data: { status: target } });
    }
  });
});

describe("DELETE /workflows/{id}", () => {
  it.each(STATUSES)("archives a workflow that is %s, and again (D21)", async (status) => {
    const id = await createInStatus(system, status);
    for (let time = 1; time <= 2; time += 1) {
      const answer = await system.call("DELETE", `/workflows/${id}`);
      expect(answer).toMatchObject({ status: 200, data: { deleted: true } });
      expect(answer.data).toEqual({ deleted: true });
      expect((await getWorkflow(system, id)).status).toBe("archived");
    }
  });

  it("keeps the runs, and lets one that is under way go on to its end", async () => {
    const id = await createInStatus(system, "active", {
      steps: [
        { id: "wait", type: "delay", name: "wait", config: { durationMs: 300 } },
        transform("out", "done"),
      ],
    });
    const runId = runIdOf(await postRun(system, id));
    await system.call("DELETE", `/workflows/${id}`);
    expect(await waitForRun(system, runId)).toMatchObject({ status: "completed", output: "done" });
    const list = await system.call("GET", `/workflows/${id}/runs`);
    expect(list).toMatchObject({ status: 200, data: [{ id: runId, status: "completed" }] });
  });
});

describe("PUT /workflows/{id}", () => {
  it.each([
    ["draft", 1],
    ["paused", 1],
    ["active", 2],
  ] as const)(
    "of a workflow that is %s keeps the status and leads to version %i (D20)",
    async (status, version) => {
      const id = await createInStatus(system, status);
      const steps = [transform("changed", { at: 1 })];
      const answer = await system.call("PUT", `/workflows/${id}`, {
        body: { name: "Changed", steps, changeSummary: "New steps" },
      });
      expect(answer).toMatchObject({
        status: 200,
        data: { status, version, name: "Changed", steps },
      });
      expect(answer.data).toEqual(await getWorkflow(system, id));
    },
  );

  it("of one that is archived is refused and changes nothing", async () => {
    const id = await createInStatus(system, "archived");
    const before = await getWorkflow(system, id);
    const answer = await system.call("PUT", `/workflows/${id}`, { body: { name: "Changed" } });
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({
      code: "BAD_REQUEST",
      details: { currentStatus: "archived" },
    });
    expect(await getWorkflow(system, id)).toEqual(before);
  });

  it("replaces each field alone and leaves the others", async () => {
    const changes = {
      name: "Another name",
      description: "Another description",
      trigger: { type: "webhook", path: "elsewhere" },
      steps: [transform("other", 1)],
      inputSchema: { type: "object", required: ["a"] },
      outputSchema: { type: "number" },
      settings: { timeoutMs: 5_000 },
    };
    const { id } = await createWorkflow(system, { description: "First" });
    for (const [field, value] of Object.entries(changes)) {
      const before = await getWorkflow(system, id);
      const answer = await system.call("PUT", `/workflows/${id}`, { body: { [field]: value } });
      expect(answer.status).toBe(200);
      const { updatedAt, ...rest } = await getWorkflow(system, id);
      expect({ ...rest, updatedAt: before.updatedAt }).toEqual({ ...before, [field]: value });
      expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
    }
  });

  it("clears with null what may be absent", async () => {
    const { id } = await createWorkflow(system, {
      description: "x",
      inputSchema: {},
      outputSchema: {},
      settings: {},
    });
    const nothing = { description: null, inputSchema: null, outputSchema: null, settings: null };
    const answer = await system.call("PUT", `/workflows/${id}`, { body: nothing });
    expect(answer.status).toBe(200);
    const changed = await getWorkflow(system, id);
    expect(changed).not.toHaveProperty("description");
    expect(changed).toMatchObject({ inputSchema: null, outputSchema: null, settings: null });
  });

  it.each(["name", "trigger", "steps"])("cannot clear %s", async (field) => {
    const { id } = await createWorkflow(system);
    const answer = await system.call("PUT", `/workflows/${id}`, { body: { [field]: null } });
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({ code: "BAD_REQUEST", details: [{ path: [field] }] });
  });

  it("with nothing in it changes nothing of a workflow that is not active", async () => {
    const id = await createInStatus(system, "paused");
    const before = await getWorkflow(system, id);
    const answer = await system.call("PUT", `/workflows/${id}`, { body: {} });
    expect(answer).toMatchObject({ status: 200, data: before });
    expect(await getWorkflow(system, id)).toEqual(before);
  });

  it("with nothing in it makes a version of an active one, as every PUT does (D20)", async () => {
    const id = await createInStatus(system, "active");
    const answer = await system.call("PUT", `/workflows/${id}`, { body: {} });
    expect(answer).toMatchObject({ status: 200, data: { status: "active", version: 2 } });
  });

  it("never sets id, company, status or version (D2)", async () => {
    const { id } = await createWorkflow(system);
    const body = { id: "x", companyId: system.globex.id, status: "active", version: 99 };
    const answer = await system.call("PUT", `/workflows/${id}`, { body });
    expect(answer).toMatchObject({ status: 200, data: { id, status: "draft", version: 1 } });
  });

  it("with an invalid definition is VALIDATION_ERROR and leaves the active version at work", async () => {
    const id = await createInStatus(system, "active", { steps: [transform("a", "first")] });
    const answer = await system.call("PUT", `/workflows/${id}`, {
      body: { steps: [transform("a", "{{steps.nowhere.output}}")] },
    });
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({
      code: "VALIDATION_ERROR",
      details: [{ path: ["steps", "0", "config", "mapping"], message: expect.any(String) }],
    });
    expect((await getWorkflow(system, id)).version).toBe(1);
    expect((await runToEnd(system, id)).output).toBe("first");
  });

  it("of an active workflow is in force for the very next run, and not for those that began", async () => {
    const id = await createInStatus(system, "active", {
      steps: [
        { id: "wait", type: "delay", name: "wait", config: { durationMs: 300 } },
        transform("out", "first"),
      ],
    });
    const earlier = runIdOf(await postRun(system, id));
    await system.call("PUT", `/workflows/${id}`, { body: { steps: [transform("out", "second")] } });
    const later = await runToEnd(system, id);
    expect(later).toMatchObject({ output: "second", workflowVersion: 2 });
    expect(await waitForRun(system, earlier)).toMatchObject({
      output: "first",
      workflowVersion: 1,
    });
  });

  it("of a paused workflow counts once it is active again, still as the same version", async () => {
    const id = await createInStatus(system, "paused");
    await system.call("PUT", `/workflows/${id}`, { body: { steps: [transform("out", "new")] } });
    await system.call("POST", `/workflows/${id}/activate`);
    expect(await runToEnd(system, id)).toMatchObject({ output: "new", workflowVersion: 1 });
  });
});

describe("a run of a workflow", () => {
  it.each(["draft", "paused", "archived"] as const)(
    "that is %s is refused with WORKFLOW_NOT_ACTIVE, and none is recorded (D25)",
    async (status) => {
      const id = await createInStatus(system, status);
      const answer = await postRun(system, id, { input: {} });
      expect(answer.status).toBe(400);
      expect(answer.error).toMatchObject({
        code: "WORKFLOW_NOT_ACTIVE",
        details: { currentStatus: status },
      });
      expect((await system.call("GET", `/workflows/${id}/runs`)).data).toEqual([]);
    },
  );

  it("that was paused and is active again works", async () => {
    const id = await createInStatus(system, "paused");
    await system.call("POST", `/workflows/${id}/activate`);
    expect(await runToEnd(system, id)).toMatchObject({ status: "completed" });
  });

  it("that does not exist is 404", async () => {
    const answer = await postRun(system, "0197f2a0-0000-7000-8000-000000000000", {});
    expect(answer.status).toBe(404);
    expect(answer.error?.code).toBe("NOT_FOUND");
  });
});
