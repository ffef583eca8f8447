import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { StepResult } from "@workflow/proto/runs/v1/steps";
import type { Identity } from "@workflow/rpc";
import {
  httpStep,
  mapping,
  repeat,
  startRunsHarness,
  startRequest,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import {
  MIB,
  nothing,
  documentOf,
  resizeResult,
  runWithSizes,
  evenly,
  sizesOf,
  bytesOf,
} from "./support/sized-results.ts";

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

/** A run put together from the pieces of ReadRun. */
async function readPieces(runId: string): Promise<Run> {
  let run: Run | undefined;
  for await (const { part } of harness.runs.readRun({ runId }, harness)) {
    if (part?.$case === "run") {
      expect(run).toBeUndefined();
      run = part.value;
    } else run?.stepResults.push(...(part?.value.results ?? []));
  }
  if (run === undefined) throw new Error("The run was not among the pieces.");
  return run;
}

const getStep = (
  runId: string,
  path: string,
  { bytesMax = 0, identity = harness.identity }: { bytesMax?: number; identity?: Identity } = {},
) => harness.runs.getRunStep({ runId, path, bytesMax }, { identity });

describe("A run that is read", () => {
  it("has inputs and outputs of exactly 8 MiB whole", async () => {
    const { id } = await runWithSizes(harness, [
      { inputBytes: 3 * MIB, outputBytes: MIB },
      { inputBytes: 100, outputBytes: 4 * MIB - 100 },
      { inputBytes: 0, outputBytes: 0 },
    ]);
    const run = await harness.get(id);
    const whole = [`${3 * MIB}+${MIB}`, `100+${4 * MIB - 100}`, "0+0"];
    expect(sizesOf(run.stepResults)).toEqual(whole);
    expect(await readPieces(id)).toEqual(run);
  });

  it("leaves out input and output of the first result that does not fit and of all after it", async () => {
    const { id } = await runWithSizes(harness, [
      { inputBytes: 0, outputBytes: 4 * MIB },
      { inputBytes: 1, outputBytes: 4 * MIB },
      { inputBytes: 2, outputBytes: 3 },
      { inputBytes: 0, outputBytes: 0 },
    ]);
    const run = await harness.get(id);
    expect(sizesOf(run.stepResults)).toEqual([`0+${4 * MIB}`, `(1+${4 * MIB})`, "(2+3)", "0+0"]);
    expect(await readPieces(id)).toEqual(run);
  });

  it.each([{ isOld: false }, { isOld: true }])(
    "is the same whether its rows know their sizes or are older (old: $isOld)",
    async (options) => {
      const { id } = await runWithSizes(harness, evenly(40, 300_001), options);
      const { stepResults } = await harness.get(id);
      expect(sizesOf(stepResults)).toEqual([
        ...Array.from({ length: 27 }, () => "0+300001"),
        ...Array.from({ length: 13 }, () => "(0+300001)"),
      ]);
      expect((await readPieces(id)).stepResults).toEqual(stepResults);
    },
  );

  it("keeps its own input and output, and the errors and attempts of what is truncated", async () => {
    const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
    const workflowId = await harness.deploy([
      mapping("large", 1),
      httpStep("fails", "http://127.0.0.1:9/", {}, { retry, onError: "continue" }),
      mapping("last", "{{input}}"),
    ]);
    const input = { text: "ö".repeat(400_000) };
    const ended = await harness.runToEnd(workflowId, input);
    await resizeResult(harness, ended.id, "large", { inputBytes: 0, outputBytes: 8 * MIB + 1 });
    const run = await harness.get(ended.id);
    expect(run.inputJson).toBe(JSON.stringify(input));
    expect(run.outputJson).toBe(JSON.stringify(input));
    expect(run.stepResults.map(({ truncated }) => truncated)).toEqual([true, true, true]);
    const fails = ended.stepResults[1];
    expect(fails?.previousAttempts).toHaveLength(1);
    expect(run.stepResults[1]).toEqual({
      ...fails,
      inputJson: undefined,
      truncated: true,
      inputBytes: bytesOf(fails?.inputJson),
      outputBytes: 0,
    });
  });

  it("shortens errors and leaves out attempts beyond 8 MiB of them", async () => {
    const { id } = await runWithSizes(harness, evenly(3, 10));
    const error = JSON.stringify({ code: "NO", message: "é".repeat(2_000_000), details: { a: 1 } });
    await harness.database.query(sql.type(nothing)`
      update runs.step_results set status = 'error', error = ${error}::json where run_id = ${id}
    `);
    const { stepResults } = await harness.get(id);
    expect(stepResults.map((result) => result.error?.message.length)).toEqual([
      2_000_000, 2_000_000, 200,
    ]);
    expect(stepResults[2]).toMatchObject({
      truncated: true,
      outputJson: documentOf(10),
      outputBytes: 10,
      error: { code: "NO", detailsJson: "" },
    });
    expect((await getStep(id, "s2")).error?.message).toHaveLength(2_000_000);
  });

  it("has all of thousands of results in the order in which the steps began", async () => {
    const steps = [repeat("l", { count: 2_500 }, [mapping("s", "{{loop.index}}")])];
    const settings = { maxIterations: 2_500 };
    const config = { ...steps[0], config: { ...steps[0]?.config, ...settings } };
    const run = await harness.runToEnd(await harness.deploy([config]));
    const paths = ["l", ...Array.from({ length: 2_500 }, (_, index) => `l[${index}].s`)];
    expect(run.stepResults.map(({ path }) => path)).toEqual(paths);
    expect((await readPieces(run.id)).stepResults).toEqual(run.stepResults);
  });

  it("is NOT_FOUND in pieces when it is unknown or another company's", async () => {
    const { id } = await runWithSizes(harness, evenly(1, 10));
    const stranger = testIdentity();
    for (const [runId, identity] of [
      [newId("run_"), harness.identity],
      ["run_x", harness.identity],
      [id, stranger],
    ] as const) {
      const pieces = Array.fromAsync(harness.runs.readRun({ runId }, { identity }));
      await expect(pieces).rejects.toMatchObject({ reason: "NOT_FOUND" });
    }
  });
});

describe("WatchRun", () => {
  it("tells inputs and outputs of 8 MiB, and sizes after that", async () => {
    const { id } = await runWithSizes(harness, [
      ...evenly(2, 3 * MIB),
      ...evenly(20, 40_000),
      ...evenly(1, 2 * MIB),
      ...evenly(1, 10),
    ]);
    const results: StepResult[] = [];
    for await (const { update } of harness.runs.watchRun(
      { runId: id, after: undefined },
      harness,
    )) {
      if (update?.$case === "step") results.push(update.value);
    }
    const expected = (await harness.get(id)).stepResults;
    expect(sizesOf(expected).slice(-2)).toEqual([`(0+${2 * MIB})`, "(0+10)"]);
    expect(results).toEqual(expected);
  });
});

describe("Large runs that are read at once", () => {
  /** Room for one reader of a company, and for two in all. */
  const reading = { perTenant: 9 * MIB, total: 18 * MIB, waitMs: 300 };

  /** A run that is being read by a client that stopped taking pieces. */
  async function holdReading(client: RunsHarness["runs"], identity: Identity) {
    const steps = evenly(8, MIB - 1);
    const workflowId = await harness.deploy(
      steps.map((_step, index) => mapping(`s${index}`, index)),
      { identity },
    );
    const started = await harness.runs.startRun(
      { ...startRequest(workflowId), waitMs: 20_000 },
      { identity },
    );
    const runId = started.run?.id ?? "";
    for (const [index, step] of steps.entries())
      await resizeResult(harness, runId, `s${index}`, step);
    const pieces = client.readRun({ runId }, { identity })[Symbol.asyncIterator]();
    return { runId, begun: pieces.next(), release: () => pieces.return?.() };
  }

  it("wait for their turn, and are refused by whose readings it took too long", async () => {
    const service = await harness.startAnother("api", { reading });
    const client = harness.connect(service);
    const [a, b, c] = [testIdentity(), testIdentity(), testIdentity()];
    const first = await holdReading(client, a);
    await first.begun;
    const again = client.getRun({ runId: first.runId }, { identity: a });
    await expect(again).rejects.toMatchObject({
      reason: "RATE_LIMITED",
      details: { limit: "reading" },
      retryAfterMs: 1_000,
    });
    const step = client.getRunStep(
      { runId: first.runId, path: "s0", bytesMax: 0 },
      { identity: a },
    );
    await expect(step).rejects.toMatchObject({ reason: "RATE_LIMITED" });

    const second = await holdReading(client, b);
    await second.begun;
    const third = await holdReading(client, c);
    await expect(third.begun).rejects.toMatchObject({ reason: "UNAVAILABLE", retryAfterMs: 1_000 });
    const small = await runWithSizes(harness, evenly(3, 1_000));
    expect((await client.getRun({ runId: small.id }, harness)).stepResults).toHaveLength(3);

    await Promise.all([first.release(), second.release()]);
    const { runId } = third;
    const many = Array.from({ length: 8 }, () =>
      client.getRunStep({ runId, path: "s0", bytesMax: 0 }, { identity: c }),
    );
    for (const result of await Promise.all(many))
      expect(sizesOf([result])).toEqual([`0+${MIB - 1}`]);
    await service.stop();
  });
});

describe("What does not need the results of a run", () => {
  it("is not stopped by results that cannot be read", async () => {
    const workflowId = await harness.deploy([
      mapping("a", 1),
      { id: "ask", type: "approval", name: "ask", config: { message: "?" } },
    ]);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await harness.start(workflowId));
    const { identity, runs } = harness;
    for (const runId of ids) {
      for await (const { update } of runs.watchRun({ runId, after: undefined }, { identity })) {
        if (update?.$case === "step") break;
      }
    }
    await harness.database.query(sql.type(nothing)`
      update runs.step_results set previous_attempts = '{"unreadable": true}'
      where run_id = any(${sql.array(ids, "text")})
    `);
    const [first = "", ...others] = ids;
    await expect(harness.get(first)).rejects.toMatchObject({ reason: "INTERNAL_ERROR" });
    const cancelled = await runs.cancelRun({ runId: first }, { identity });
    expect(cancelled.stepResults).toEqual([]);
    const { results } = await runs.bulkRuns(
      { action: 1, runIds: others, filter: undefined },
      { identity },
    );
    expect(results).toEqual(
      others.map((runId) => ({ runId, newRunId: undefined, failure: undefined })),
    );
  });

  it("answers a start that waits with the run's output alone", async () => {
    const workflowId = await harness.deploy([
      mapping("large", "{{input.text}}"),
      mapping("small", 7),
    ]);
    const request = {
      ...startRequest(workflowId, { text: "x".repeat(900_000) }),
      waitMs: 10_000,
      idempotencyKey: "once",
    };
    for (const existing of [false, true]) {
      const response = await harness.runs.startRun(request, harness);
      expect(response).toMatchObject({ existing, run: { outputJson: "7", stepResults: [] } });
    }
  });
});
