import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createActive,
  createWorkflow,
  getWorkflow,
  postRun,
  runToEnd,
  transform,
  workflowSchema,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const TIMES = 50;

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

/** Calls a function many times, a few at the same time. */
async function repeat(times: number, task: (index: number) => Promise<void>): Promise<void> {
  const atOnce = 5;
  for (let first = 0; first < times; first += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, times - first) }, (_, i) =>
      task(first + i),
    );
    await Promise.all(batch);
  }
}

describe("one caller's requests keep their order", () => {
  it("when activate has answered 200, run works", async () => {
    await repeat(TIMES, async () => {
      const { id } = await createWorkflow(system);
      const activated = await system.call("POST", `/workflows/${id}/activate`);
      expect(activated.status).toBe(200);
      expect((await postRun(system, id)).status).toBe(202);
    });
  });

  it("when pause has answered 200, run is refused", async () => {
    await repeat(TIMES, async () => {
      const id = await createActive(system);
      const paused = await system.call("POST", `/workflows/${id}/pause`);
      expect(paused.status).toBe(200);
      const run = await postRun(system, id);
      expect(run.status).toBe(400);
      expect(run.error).toMatchObject({
        code: "WORKFLOW_NOT_ACTIVE",
        details: { currentStatus: "paused" },
      });
    });
  });

  it("when an update has answered 200, the next run follows it", async () => {
    const id = await createActive(system);
    for (let n = 1; n <= 20; n += 1) {
      const body = { steps: [transform("out", n)] };
      const updated = await system.call("PUT", `/workflows/${id}`, { body });
      expect(updated).toMatchObject({ status: 200, data: { version: n + 1 } });
      const run = await postRun(system, id, { mode: "sync" });
      expect(run).toMatchObject({ status: 200, data: { output: n, workflowVersion: n + 1 } });
    }
  });

  it("when delete has answered 200, run is refused", async () => {
    await repeat(10, async () => {
      const id = await createActive(system);
      expect((await system.call("DELETE", `/workflows/${id}`)).status).toBe(200);
      const run = await postRun(system, id);
      expect(run).toMatchObject({ status: 400, error: { code: "WORKFLOW_NOT_ACTIVE" } });
    });
  });
});

describe("requests at the same time", () => {
  it("updates of an active workflow each get a version of their own, and the last one is at work", async () => {
    const id = await createActive(system);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        system.call("PUT", `/workflows/${id}`, { body: { steps: [transform("out", n)] } }),
      ),
    );
    const updated = answers.map((answer) => {
      expect(answer.status).toBe(200);
      return workflowSchema.parse(answer.data);
    });
    const versions = updated.map(({ version }) => version).toSorted((a, b) => a - b);
    expect(versions).toEqual(Array.from({ length: 20 }, (_, n) => n + 2));
    const now = await getWorkflow(system, id);
    expect(now).toEqual(updated.find(({ version }) => version === 21));
    expect(await runToEnd(system, id)).toMatchObject({
      workflowVersion: 21,
      output: updated.findIndex(({ version }) => version === 21),
    });
  });

  it("updates of different fields do not undo each other", async () => {
    const { id } = await createWorkflow(system);
    await Promise.all([
      system.call("PUT", `/workflows/${id}`, { body: { name: "Name" } }),
      system.call("PUT", `/workflows/${id}`, { body: { description: "Description" } }),
      system.call("PUT", `/workflows/${id}`, { body: { settings: { timeoutMs: 1 } } }),
    ]);
    expect(await getWorkflow(system, id)).toMatchObject({
      name: "Name",
      description: "Description",
      settings: { timeoutMs: 1 },
    });
  });

  it("of ten activations one succeeds and nine hear that it is active", async () => {
    const { id } = await createWorkflow(system);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => system.call("POST", `/workflows/${id}/activate`)),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
    for (const { error } of answers.filter(({ status }) => status === 400)) {
      expect(error).toMatchObject({ code: "BAD_REQUEST", details: { currentStatus: "active" } });
    }
  });

  it("activate and pause in any order leave run and status in agreement", async () => {
    await repeat(10, async () => {
      const id = await createActive(system);
      await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          system.call("POST", `/workflows/${id}/${n % 2 === 0 ? "pause" : "activate"}`),
        ),
      );
      const { status } = await getWorkflow(system, id);
      const run = await postRun(system, id);
      expect([status, run.status]).toEqual(status === "active" ? ["active", 202] : ["paused", 400]);
    });
  });
});
