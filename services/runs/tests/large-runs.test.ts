import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { StepResult } from "@workflow/proto/runs/v1/steps";
import type { Identity } from "@workflow/rpc";
import { z } from "zod";
import {
  httpStep,
  mapping,
  repeat,
  startRunsHarness,
  startRequest,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const MIB = 1024 * 1024;
const nothing = z.object({});

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

/** How the stored result of a step is changed after its run, to have an exact size. */
interface Change {
  /** Bytes of the input and the output; 0 for none. */
  inputBytes: number;
  outputBytes: number;
}

/** A document of so many bytes as JSON, of characters of two bytes each as far as possible. */
function documentOf(bytes: number): string | null {
  if (bytes === 0) return null;
  return JSON.stringify("ä".repeat((bytes - 2) / 2) + (bytes % 2 === 0 ? "" : "x"));
}

async function changeResult(
  runId: string,
  path: string,
  { inputBytes, outputBytes }: Change,
  { isOld = false } = {},
): Promise<void> {
  await harness.database.query(sql.type(nothing)`
    update runs.step_results
    set input = ${documentOf(inputBytes)}::json, output = ${documentOf(outputBytes)}::json,
      input_bytes = ${isOld ? null : inputBytes}, output_bytes = ${isOld ? null : outputBytes}
    where run_id = ${runId} and path = ${path}
  `);
}

/** A run whose steps `s0`, `s1` … have brought so many bytes each. */
async function runOf(changes: readonly Change[], options: { isOld?: boolean } = {}): Promise<Run> {
  const steps = changes.map((_change, index) => mapping(`s${index}`, index));
  const run = await harness.runToEnd(await harness.deploy(steps), { word: "given" });
  for (const [index, change] of changes.entries()) {
    await changeResult(run.id, `s${index}`, change, options);
  }
  return run;
}

const evenly = (count: number, bytes: number): Change[] =>
  Array.from({ length: count }, () => ({ inputBytes: 0, outputBytes: bytes }));

/** The returned results: each one's bytes, in brackets where they are left out. */
function toldOf(results: readonly StepResult[]): string[] {
  return results.map(({ truncated, inputJson, outputJson, inputBytes, outputBytes }) => {
    if (!truncated) return `${bytesOf(inputJson)}+${bytesOf(outputJson)}`;
    expect([inputJson, outputJson]).toEqual([undefined, undefined]);
    return `(${inputBytes}+${outputBytes})`;
  });
}

function bytesOf(json: string | undefined): number {
  return json === undefined ? 0 : Buffer.byteLength(json);
}

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

const listSteps = (
  runId: string,
  { limit = 0, cursor = "", bytesMax = 0 } = {},
  identity: Identity = harness.identity,
) => harness.runs.listRunSteps({ runId, page: { limit, cursor }, bytesMax }, { identity });

const getStep = (
  runId: string,
  path: string,
  { bytesMax = 0, identity = harness.identity }: { bytesMax?: number; identity?: Identity } = {},
) => harness.runs.getRunStep({ runId, path, bytesMax }, { identity });

describe("A run that is read", () => {
  it("has inputs and outputs of exactly 8 MiB whole", async () => {
    const { id } = await runOf([
      { inputBytes: 3 * MIB, outputBytes: MIB },
      { inputBytes: 100, outputBytes: 4 * MIB - 100 },
      { inputBytes: 0, outputBytes: 0 },
    ]);
    const run = await harness.get(id);
    const whole = [`${3 * MIB}+${MIB}`, `100+${4 * MIB - 100}`, "0+0"];
    expect(toldOf(run.stepResults)).toEqual(whole);
    expect(await readPieces(id)).toEqual(run);
  });

  it("leaves out input and output of the first result that does not fit and of all after it", async () => {
    const { id } = await runOf([
      { inputBytes: 0, outputBytes: 4 * MIB },
      { inputBytes: 1, outputBytes: 4 * MIB },
      { inputBytes: 2, outputBytes: 3 },
      { inputBytes: 0, outputBytes: 0 },
    ]);
    const run = await harness.get(id);
    expect(toldOf(run.stepResults)).toEqual([`0+${4 * MIB}`, `(1+${4 * MIB})`, "(2+3)", "0+0"]);
    expect(await readPieces(id)).toEqual(run);
  });

  it.each([{ isOld: false }, { isOld: true }])(
    "is the same whether its rows know their sizes or are older (old: $isOld)",
    async (options) => {
      const { id } = await runOf(evenly(40, 300_001), options);
      const { stepResults } = await harness.get(id);
      expect(toldOf(stepResults)).toEqual([
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
    await changeResult(ended.id, "large", { inputBytes: 0, outputBytes: 8 * MIB + 1 });
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
    const { id } = await runOf(evenly(3, 10));
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
    const { id } = await runOf(evenly(1, 10));
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

describe("ListRunSteps", () => {
  it("pages through the results in execution order", async () => {
    const run = await runOf(evenly(7, 10));
    const { stepResults } = await harness.get(run.id);
    const all: StepResult[] = [];
    const lengths: number[] = [];
    let cursor = "";
    do {
      const { results, page } = await listSteps(run.id, { limit: 3, cursor });
      all.push(...results);
      lengths.push(results.length);
      cursor = page?.cursor ?? "";
      expect(page?.hasMore).toBe(cursor !== "");
    } while (cursor !== "");
    expect(lengths).toEqual([3, 3, 1]);
    expect(all).toEqual(stepResults);
    const { results, page } = await listSteps(run.id, { limit: 7 });
    expect(results).toEqual(stepResults);
    expect(page).toEqual({ cursor: "", hasMore: false });
  });

  it("holds at most 8 MiB a page, from the page's beginning", async () => {
    const { id } = await runOf(evenly(5, 3 * MIB));
    const first = await listSteps(id, { limit: 3 });
    const whole = `0+${3 * MIB}`;
    expect(toldOf(first.results)).toEqual([whole, whole, `(0+${3 * MIB})`]);
    const second = await listSteps(id, { limit: 3, cursor: first.page?.cursor ?? "" });
    expect(toldOf(second.results)).toEqual([whole, whole]);
  });

  it("holds less when it is told to, and never more", async () => {
    const { id } = await runOf(evenly(2, 5 * MIB));
    expect(toldOf((await listSteps(id, { bytesMax: 10 })).results)[0]).toBe(`(0+${5 * MIB})`);
    expect(toldOf((await listSteps(id, { bytesMax: 100 * MIB })).results)).toEqual([
      `0+${5 * MIB}`,
      `(0+${5 * MIB})`,
    ]);
  });

  it("refuses limits that are none and cursors that are not of this list", async () => {
    const [{ id }, other] = [await runOf(evenly(3, 10)), await runOf(evenly(3, 10))];
    const cursor = (await listSteps(id, { limit: 1 })).page?.cursor ?? "";
    for (const [runId, page] of [
      [id, { limit: -1 }],
      [id, { limit: 101 }],
      [id, { bytesMax: -1 }],
      [id, { cursor: "x" }],
      [id, { cursor: `${cursor}A` }],
      [other.id, { cursor }],
    ] as const) {
      await expect(listSteps(runId, page)).rejects.toMatchObject({ reason: "BAD_REQUEST" });
    }
    const stranger = testIdentity();
    await expect(listSteps(id, { cursor }, stranger)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
    });
  });

  it("is NOT_FOUND for a run that is unknown or another company's", async () => {
    const { id } = await runOf(evenly(1, 10));
    const notFound = { reason: "NOT_FOUND", message: "Run not found" };
    await expect(listSteps(newId("run_"))).rejects.toMatchObject(notFound);
    await expect(listSteps("run_' or 1=1")).rejects.toMatchObject(notFound);
    await expect(listSteps(id, {}, testIdentity())).rejects.toMatchObject(notFound);
  });
});

describe("GetRunStep", () => {
  it("gives a result whole, with 4 MiB of input and 4 MiB of output", async () => {
    const { id } = await runOf([
      { inputBytes: 4 * MIB, outputBytes: 4 * MIB },
      { inputBytes: 4 * MIB, outputBytes: 4 * MIB },
    ]);
    for (const path of ["s0", "s1"]) {
      const result = await getStep(id, path);
      expect(toldOf([result])).toEqual([`${4 * MIB}+${4 * MIB}`]);
      expect(result.outputJson).toBe(documentOf(4 * MIB));
    }
    expect(toldOf([await getStep(id, "s1", { bytesMax: 1_000 })])).toEqual([
      `(${4 * MIB}+${4 * MIB})`,
    ]);
  });

  it("finds nested results by their path", async () => {
    const inner = repeat("inner", { count: 2 }, [mapping("child", "{{loop.index}}")]);
    const run = await harness.runToEnd(
      await harness.deploy([repeat("outer", { count: 3 }, [inner])]),
    );
    const path = "outer[2].inner[1].child";
    const expected = run.stepResults.find((result) => result.path === path);
    expect(expected).toMatchObject({ outputJson: "1" });
    expect(await getStep(run.id, path)).toEqual(expected);
  });

  it("is NOT_FOUND for what is unknown or another company's", async () => {
    const { id } = await runOf(evenly(1, 10));
    const notFound = { reason: "NOT_FOUND", message: "Step result not found" };
    for (const path of ["s1", "s0.", "S0", "", "s0\0", "\ud800", "s".repeat(100_000), "%"]) {
      await expect(getStep(id, path)).rejects.toMatchObject(notFound);
    }
    await expect(getStep(newId("run_"), "s0")).rejects.toMatchObject(notFound);
    await expect(getStep("run_x", "s0")).rejects.toMatchObject(notFound);
    const identity = testIdentity();
    await expect(getStep(id, "s0", { identity })).rejects.toMatchObject(notFound);
    expect(await getStep(id, "s0")).toMatchObject({ path: "s0" });
  });
});

describe("WatchRun", () => {
  it("tells inputs and outputs of 8 MiB, and sizes after that", async () => {
    const { id } = await runOf([
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
    expect(toldOf(expected).slice(-2)).toEqual([`(0+${2 * MIB})`, "(0+10)"]);
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
    for (const [index, step] of steps.entries()) await changeResult(runId, `s${index}`, step);
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
    const small = await runOf(evenly(3, 1_000));
    expect((await client.getRun({ runId: small.id }, harness)).stepResults).toHaveLength(3);

    await Promise.all([first.release(), second.release()]);
    const { runId } = third;
    const many = Array.from({ length: 8 }, () =>
      client.getRunStep({ runId, path: "s0", bytesMax: 0 }, { identity: c }),
    );
    for (const result of await Promise.all(many))
      expect(toldOf([result])).toEqual([`0+${MIB - 1}`]);
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
