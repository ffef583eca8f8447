import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createActive,
  createInStatus,
  delay,
  failing,
  postRun,
  runIdOf,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let workflowId: string;

beforeAll(async () => {
  system = await startWholeSystem();
  workflowId = await createActive(system, { steps: [transform("out", "{{input.n}}")] });
});
afterAll(() => system.stop());

async function countRuns(id: string): Promise<number> {
  const { data } = await system.call("GET", `/workflows/${id}/runs`);
  return Array.isArray(data) ? data.length : -1;
}

describe("an idempotency key", () => {
  it("that was used names the run of the first time, with 200 and a message (D25)", async () => {
    const body = { idempotencyKey: "order-1", input: { n: 1 } };
    const first = await postRun(system, workflowId, body);
    expect(first).toMatchObject({ status: 202, data: { status: "pending" } });
    const runId = runIdOf(first);
    await waitForRun(system, runId);
    const second = await postRun(system, workflowId, body);
    expect(second.status).toBe(200);
    expect(second.data).toEqual({
      run_id: runId,
      runId,
      workflow_id: workflowId,
      workflowId,
      workflowVersion: 1,
      status: "completed",
      message: expect.any(String),
    });
  });

  it("may come in the body or in the header; the body's wins (D25)", async () => {
    const id = await createActive(system);
    const key = "either way";
    const header = { headers: { "idempotency-key": key } };
    const answers = [
      await postRun(system, id, { idempotencyKey: key }),
      await postRun(system, id, {}, header),
      await postRun(system, id, { idempotencyKey: key }, header),
      await postRun(system, id, undefined, header),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 200, 200, 200]);
    expect(new Set(answers.map(runIdOf)).size).toBe(1);
    expect(await countRuns(id)).toBe(1);
    const other = await postRun(system, id, { idempotencyKey: "another" }, header);
    expect(other.status).toBe(202);
    const again = await postRun(system, id, { idempotencyKey: "another" });
    expect(again).toMatchObject({ status: 200, data: { run_id: runIdOf(other) } });
    const tooLong = { headers: { "idempotency-key": "x".repeat(256) } };
    const refused = await postRun(system, id, {}, tooLong);
    expect(refused).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  });

  it("starts one run, however many requests come at the same time", async () => {
    const id = await createActive(system);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        postRun(system, id, { idempotencyKey: "stampede", input: { n } }),
      ),
    );
    expect(new Set(answers.map(runIdOf)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    expect(await countRuns(id)).toBe(1);
  });

  it("with another input still names the first run (D25)", async () => {
    const first = await postRun(system, workflowId, { idempotencyKey: "k2", input: { n: 1 } });
    const second = await postRun(system, workflowId, { idempotencyKey: "k2", input: { n: 2 } });
    expect(second).toMatchObject({ status: 200, data: { run_id: runIdOf(first) } });
    expect(await waitForRun(system, runIdOf(first))).toMatchObject({ input: { n: 1 } });
  });

  it("goes before status and inputSchema (D25)", async () => {
    const id = await createActive(system, { inputSchema: { type: "object", required: ["n"] } });
    const first = await postRun(system, id, { idempotencyKey: "k", input: { n: 1 } });
    const invalid = await postRun(system, id, { idempotencyKey: "k", input: {} });
    expect(invalid).toMatchObject({ status: 200, data: { run_id: runIdOf(first) } });
    await system.call("POST", `/workflows/${id}/pause`);
    const paused = await postRun(system, id, { idempotencyKey: "k", input: { n: 1 } });
    expect(paused).toMatchObject({ status: 200, data: { run_id: runIdOf(first) } });
    await system.call("DELETE", `/workflows/${id}`);
    const archived = await postRun(system, id, { idempotencyKey: "k" });
    expect(archived).toMatchObject({ status: 200, data: { run_id: runIdOf(first) } });
  });

  it("that was refused is free: the next start with it counts", async () => {
    const id = await createInStatus(system, "paused", {
      inputSchema: { type: "object", required: ["n"] },
    });
    const body = { idempotencyKey: "again", input: { n: 1 } };
    expect((await postRun(system, id, body)).status).toBe(400);
    await system.call("POST", `/workflows/${id}/activate`);
    expect((await postRun(system, id, { ...body, input: {} })).status).toBe(400);
    expect((await postRun(system, id, body)).status).toBe(202);
  });

  it("belongs to one workflow", async () => {
    const other = await createActive(system);
    const first = await postRun(system, workflowId, { idempotencyKey: "shared" });
    const second = await postRun(system, other, { idempotencyKey: "shared" });
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(runIdOf(second)).not.toBe(runIdOf(first));
  });

  it("starts one run each in two workflows of two companies, 25 requests apiece at once", async () => {
    const theirs = { key: system.globex.key };
    const [ours, other] = [await createActive(system), await createActive(system, {}, theirs)];
    const body = { idempotencyKey: "everywhere" };
    const [mine, foreign] = await Promise.all([
      Promise.all(Array.from({ length: 25 }, () => postRun(system, ours, body))),
      Promise.all(Array.from({ length: 25 }, () => postRun(system, other, body, theirs))),
    ]);
    const runIds = [mine, foreign].map((answers) => {
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
      const ids = new Set(answers.map(runIdOf));
      expect(ids.size).toBe(1);
      return [...ids][0];
    });
    expect(runIds[0]).not.toBe(runIds[1]);
  });

  it("belongs to one company", async () => {
    const theirs = { key: system.globex.key };
    const other = await createActive(system, {}, theirs);
    const first = await postRun(system, workflowId, { idempotencyKey: "both" });
    const second = await postRun(system, other, { idempotencyKey: "both" }, theirs);
    expect([first.status, second.status]).toEqual([202, 202]);
    const foreign = await postRun(system, workflowId, { idempotencyKey: "both" }, theirs);
    expect(foreign).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });

  it("is compared exactly, and may hold anything that is text", async () => {
    const id = await createActive(system);
    const keys = ["a", "A", " a", "ä", "😀", "x".repeat(255), "a'; --", "%"];
    for (const idempotencyKey of keys) {
      expect((await postRun(system, id, { idempotencyKey })).status).toBe(202);
    }
    expect(await countRuns(id)).toBe(keys.length);
  });

  it("answers at once about a run that is still under way, in sync mode too", async () => {
    const id = await createActive(system, { steps: [delay("sleep", 60_000)] });
    const first = await postRun(system, id, { idempotencyKey: "long" });
    const second = await postRun(system, id, { idempotencyKey: "long", mode: "sync" });
    expect(second).toMatchObject({ status: 200, data: { run_id: runIdOf(first) } });
    expect(second.data).not.toHaveProperty("output");
    await system.call("POST", `/runs/${runIdOf(first)}/cancel`);
  });

  it("names a run that failed as well", async () => {
    const id = await createActive(system, { steps: [failing("call")] });
    const first = await postRun(system, id, { idempotencyKey: "broken" });
    await waitForRun(system, runIdOf(first));
    const second = await postRun(system, id, { idempotencyKey: "broken", mode: "sync" });
    expect(second).toMatchObject({
      status: 200,
      data: { run_id: runIdOf(first), status: "failed" },
    });
  });
});
