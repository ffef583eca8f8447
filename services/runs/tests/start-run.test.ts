import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { DeploymentStatus } from "@workflow/proto/runs/v1/deployments";
import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { StartRunRequest } from "@workflow/proto/runs/v1/starts";
import { z } from "zod";
import {
  mapping,
  outputOf,
  startRequest,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let workflowId: string;

beforeAll(async () => {
  harness = await startRunsHarness();
  workflowId = await harness.deploy([mapping("echo", { said: "{{input.word}}" })]);
});
afterAll(() => harness.close());

const countRuns = () =>
  harness.database.oneFirst(
    sql.type(z.object({ count: z.number() }))`select count(*)::int as count from runs.runs`,
  );

/** Starts a run as the harness's company, or another one. */
async function start(more: Partial<StartRunRequest>, identity = harness.identity) {
  const response = await harness.runs.startRun(
    { ...startRequest(workflowId), ...more },
    { identity },
  );
  if (response.run === undefined) throw new Error("no run in the response");
  return { ...response, run: response.run };
}

async function pause(id: string, revision = 2): Promise<void> {
  await harness.deployments.putDeployment(
    { workflowId: id, revision, status: DeploymentStatus.PAUSED, content: undefined },
    { identity: harness.identity },
  );
}

describe("starting a run", () => {
  it("answers once the run is stored, and executes it afterwards", async () => {
    const { run, existing, timedOut } = await start({ inputJson: '{"word":"hello"}' });
    expect({ existing, timedOut }).toEqual({ existing: false, timedOut: false });
    expect(run).toMatchObject({
      workflowId,
      workflowName: "Test workflow",
      workflowVersion: 1,
      status: RunStatus.PENDING,
      triggerType: TriggerType.API,
    });
    expect(run.id).toMatch(/^run_[0-9a-hjkmnp-tv-z]{26}$/);
    const ended = await harness.waitForEnd(run.id);
    expect(outputOf(ended)).toEqual({ said: "hello" });
    expect(ended.createdAt).toEqual(run.createdAt);
    expect(ended.taskRuntimeRunId).toBe(run.taskRuntimeRunId);
  });

  it("takes an absent input as an empty object", async () => {
    const { run } = await start({});
    const ended = await harness.waitForEnd(run.id);
    expect(ended.inputJson).toBe("{}");
    expect(outputOf(ended)).toEqual({ said: null });
  });

  it("remembers that a run was started by hand", async () => {
    const { run } = await start({ triggerType: TriggerType.MANUAL });
    expect((await harness.get(run.id)).triggerType).toBe(TriggerType.MANUAL);
    await expect(start({ triggerType: TriggerType.SCHEDULE })).rejects.toMatchObject({
      reason: "BAD_REQUEST",
    });
  });

  it.each([
    ["unknown", () => newUuid()],
    ["malformed", () => "no-such-workflow"],
    ["empty", () => ""],
    ["hostile", () => "' or 1=1 --\0"],
  ])("answers NOT_FOUND for an %s workflow id", async (_kind, makeId) => {
    await expect(start({ workflowId: makeId() })).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });

  it("answers NOT_FOUND for another company's workflow, also with an idempotency key", async () => {
    const stranger = testIdentity();
    await start({ idempotencyKey: "shared" });
    await expect(start({}, stranger)).rejects.toMatchObject({ reason: "NOT_FOUND" });
    await expect(start({ idempotencyKey: "shared" }, stranger)).rejects.toMatchObject({
      reason: "NOT_FOUND",
    });
  });

  it("takes a workflow id in any spelling", async () => {
    const { run } = await start({ workflowId: workflowId.toUpperCase() });
    expect(run.workflowId).toBe(workflowId);
  });

  it.each([
    ["paused", DeploymentStatus.PAUSED],
    ["archived", DeploymentStatus.ARCHIVED],
  ])("refuses a workflow that is %s and says so", async (currentStatus, status) => {
    const id = await harness.deploy([mapping("a", 1)]);
    await harness.runToEnd(id);
    await harness.deployments.putDeployment(
      { workflowId: id, revision: 2, status, content: undefined },
      { identity: harness.identity },
    );
    await expect(start({ workflowId: id })).rejects.toMatchObject({
      reason: "WORKFLOW_NOT_ACTIVE",
      details: { currentStatus },
    });
  });
});

describe("a run's input", () => {
  it("has to fit the input schema; every violation is named by its path", async () => {
    const id = await harness.deploy([mapping("a", 1)], {
      inputSchema: {
        type: "object",
        required: ["email"],
        properties: { lines: { type: "array", items: { type: "number" } } },
      },
    });
    const refused = start({ workflowId: id, inputJson: '{"lines":[1,"two"]}' });
    await expect(refused).rejects.toMatchObject({ reason: "VALIDATION_ERROR" });
    const paths = await refused.catch((error: { violations: { path: string[] }[] }) =>
      error.violations.map(({ path }) => path),
    );
    expect(paths).toContainEqual(["lines", "1"]);
    expect(paths).toHaveLength(2);
  });

  it("is judged by the newest deployment as soon as that is acknowledged", async () => {
    const strict = { type: "object", required: ["a"] };
    const id = await harness.deploy([mapping("a", 1)], { inputSchema: strict });
    await start({ workflowId: id, inputJson: '{"a":1}' });
    await harness.deploy([mapping("a", 1)], { workflowId: id, revision: 2, version: 2 });
    const { run } = await start({ workflowId: id, inputJson: "{}" });
    expect(run.workflowVersion).toBe(2);
    await harness.deploy([mapping("a", 1)], { workflowId: id, revision: 3, inputSchema: strict });
    await expect(start({ workflowId: id, inputJson: "{}" })).rejects.toMatchObject({
      reason: "VALIDATION_ERROR",
    });
  });

  it.each([
    ["not JSON", "{"],
    ["an array", "[]"],
    ["a scalar", "1"],
    ["null", "null"],
    ["empty", ""],
    ["nested deeper than 64", `{"a":${"[".repeat(64)}${"]".repeat(64)}}`],
    ["nested deeper than the stack", `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
    ["with NUL", '{"a":"\\u0000"}'],
    ["with NUL in a key", '{"\\u0000":1}'],
    ["with a lone surrogate", '{"a":"\\ud800"}'],
    ["with a raw NUL", '{"a":"\0"}'],
  ])("is refused when it is %s, and nothing is stored", async (_kind, inputJson) => {
    const before = await countRuns();
    await expect(start({ inputJson })).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    expect(await countRuns()).toBe(before);
  });

  it("may have 1 MiB and not a byte more", async () => {
    const fits = `{"a":"${"é".repeat((1024 * 1024 - 8) / 2)}"}`;
    expect(Buffer.byteLength(fits)).toBe(1024 * 1024);
    const { run } = await start({ inputJson: fits });
    expect((await harness.waitForEnd(run.id)).inputJson).toBe(fits);
    await expect(start({ inputJson: `${fits} ` })).rejects.toMatchObject({
      reason: "PAYLOAD_TOO_LARGE",
    });
  });

  it("is handed back byte for byte", async () => {
    const inputJson =
      '{ "__proto__": {"admin": true}, "constructor":null,"a":1.0, "a":2,\n"e":"\\u00e9\\/","n":1e2, "z":"😀" }';
    const { run } = await start({ inputJson });
    expect((await harness.waitForEnd(run.id)).inputJson).toBe(inputJson);
  });

  it("comes through intact when many runs are stored together", async () => {
    const words = Array.from({ length: 200 }, (_, index) => `"],{}'\\\\${index}`);
    const runs = await Promise.all(
      words.map((word) => start({ inputJson: JSON.stringify({ word }) })),
    );
    const outputs = await Promise.all(
      runs.map(async ({ run }) => outputOf(await harness.waitForEnd(run.id))),
    );
    expect(outputs).toEqual(words.map((said) => ({ said })));
  });
});

describe("an idempotency key", () => {
  it("starts one run, whoever of 50 simultaneous callers comes first", async () => {
    const before = await countRuns();
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => start({ idempotencyKey: "fifty" })),
    );
    expect(new Set(responses.map(({ run }) => run.id)).size).toBe(1);
    expect(responses.filter(({ existing }) => !existing)).toHaveLength(1);
    expect(await countRuns()).toBe(before + 1);
  });

  it("gives its run whatever else the request says, and whatever became of the workflow (D25)", async () => {
    const id = await harness.deploy([mapping("a", 1)], {
      inputSchema: { type: "object", required: ["a"] },
    });
    const request = { workflowId: id, idempotencyKey: "again" };
    const first = await start({ ...request, inputJson: '{"a":1}' });
    await harness.waitForEnd(first.run.id);
    const unfit = await start({ ...request, inputJson: '{"b":1}' });
    expect(unfit).toMatchObject({ existing: true, timedOut: false });
    expect(unfit.run).toMatchObject({ id: first.run.id, status: RunStatus.COMPLETED });
    await pause(id);
    expect((await start(request)).run.id).toBe(first.run.id);
    expect((await start({ ...request, waitMs: 5_000 })).run.id).toBe(first.run.id);
  });

  it("is looked up after the request's shape was checked (D25)", async () => {
    await start({ idempotencyKey: "shape" });
    await expect(start({ idempotencyKey: "shape", inputJson: "[" })).rejects.toMatchObject({
      reason: "BAD_REQUEST",
    });
  });

  it("counts within one workflow only", async () => {
    const other = await harness.deploy([mapping("a", 1)]);
    const here = await start({ idempotencyKey: "scoped" });
    const there = await start({ workflowId: other, idempotencyKey: "scoped" });
    expect(there).toMatchObject({ existing: false });
    expect(there.run.id).not.toBe(here.run.id);
  });

  it("counts within one company only", async () => {
    const stranger = testIdentity();
    const theirs = await harness.deploy([mapping("a", 1)], { identity: stranger });
    const here = await start({ idempotencyKey: "company" });
    const there = await start({ workflowId: theirs, idempotencyKey: "company" }, stranger);
    expect(there).toMatchObject({ existing: false });
    expect(there.run.id).not.toBe(here.run.id);
  });

  it("is not taken by a start that was refused", async () => {
    const id = await harness.deploy([mapping("a", 1)], {
      inputSchema: { type: "object", required: ["a"] },
    });
    await expect(start({ workflowId: id, idempotencyKey: "later" })).rejects.toMatchObject({
      reason: "VALIDATION_ERROR",
    });
    const second = await start({
      workflowId: id,
      idempotencyKey: "later",
      inputJson: '{"a":1}',
    });
    expect(second.existing).toBe(false);
  });

  it("starts a new run after 24 hours, again one for all callers", async () => {
    const first = await start({ idempotencyKey: "yesterday" });
    await harness.database.query(sql.unsafe`
      update runs.idempotency_keys set created_at = now() - interval '24 hours 1 second'
      where key = 'yesterday'
    `);
    const later = await Promise.all(
      Array.from({ length: 10 }, () => start({ idempotencyKey: "yesterday" })),
    );
    const [id, ...others] = new Set(later.map(({ run }) => run.id));
    expect(others).toEqual([]);
    expect(id).not.toBe(first.run.id);
    expect(later.filter(({ existing }) => !existing)).toHaveLength(1);
  });

  it.each([
    ["empty", ""],
    ["longer than 255 characters", "k".repeat(256)],
    ["with NUL", "a\0b"],
  ])("is refused when it is %s", async (_kind, idempotencyKey) => {
    await expect(start({ idempotencyKey })).rejects.toMatchObject({ reason: "BAD_REQUEST" });
  });
});
