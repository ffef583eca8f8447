import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { RpcClient } from "@workflow/rpc";
import { z } from "zod";
import { startHttpDouble } from "@workflow/testkit";
import { httpStep, mapping, startRequest, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const nothing = z.object({});

let harness: RunsHarness;
let workflowId: string;
/** Clients of two API processes. */
let clients: readonly RpcClient<typeof RunsServiceService>[];

beforeAll(async () => {
  harness = await startRunsHarness();
  workflowId = await harness.deploy([mapping("out", 1)]);
  clients = [harness.runs, harness.connect(await harness.startAnother("api"))];
});
afterAll(() => harness.close());

/** Starts fifty runs with one key at once, over both processes. */
async function startFifty(idempotencyKey: string) {
  const starts = Array.from({ length: 50 }, (_, index) => {
    const client = clients[index % clients.length] ?? harness.runs;
    const request = { ...startRequest(workflowId, { index }), idempotencyKey };
    return client.startRun(request, { identity: harness.identity });
  });
  const responses = await Promise.all(starts);
  return {
    runIds: [...new Set(responses.map(({ run }) => run?.id))],
    started: responses.filter(({ existing }) => !existing).length,
  };
}

function age(key: string, hours: number) {
  return harness.database.query(sql.type(nothing)`
    update runs.idempotency_keys
    set created_at = now() - make_interval(hours => ${hours}, secs => 1)
    where key = ${key}
  `);
}

describe("an idempotency key (D25)", () => {
  it("names one run, whichever process is asked, and fifty times at once", async () => {
    const { runIds, started } = await startFifty("everywhere");
    expect(runIds).toHaveLength(1);
    expect(started).toBe(1);
  });

  it("shows a run that is at work as running, though it has written nothing yet", async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const receiver = await startHttpDouble(async () => {
      asked.resolve();
      await gate.promise;
      return { body: {} };
    });
    const slow = await harness.deploy([httpStep("call", receiver.url)]);
    const request = { ...startRequest(slow), idempotencyKey: "at work" };
    const { run } = await harness.runs.startRun(request, { identity: harness.identity });
    await asked.promise;
    const again = await harness.runs.startRun(request, { identity: harness.identity });
    expect(again).toMatchObject({ existing: true, run: { status: RunStatus.RUNNING } });
    gate.resolve();
    await harness.waitForEnd(run?.id ?? "");
    await receiver.close();
  });

  it("is worth 24 hours: until then the same run, after that one new one", async () => {
    const first = await startFifty("a day");
    await age("a day", 23);
    expect(await startFifty("a day")).toEqual({ runIds: first.runIds, started: 0 });
    await age("a day", 24);
    const next = await startFifty("a day");
    expect(next.started).toBe(1);
    expect(next.runIds).toHaveLength(1);
    expect(next.runIds).not.toEqual(first.runIds);
    expect(await startFifty("a day")).toEqual({ runIds: next.runIds, started: 0 });
  });
});
