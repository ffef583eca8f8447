import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { migrate } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  delay,
  expression,
  httpStep,
  mapping,
  outputOf,
  startRequest,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";
import { startPostgresProxy } from "./support/postgres-proxy.ts";
import type { PostgresProxy } from "./support/postgres-proxy.ts";

/** The statement of entries that bring results and nothing else. */
const CHECKPOINTS = "journal_checkpoints_itself";

let deliver: () => Promise<void>;
let dataDir: string;
let server: LocalPostgres;
let proxy: PostgresProxy;
let harness: RunsHarness;
let receiver: HttpDouble;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(async () => {
  process.on("unhandledRejection", onUnhandled);
  dataDir = await mkdtemp(join(tmpdir(), "runs-away-"));
  server = await startLocalPostgres({ dataDir });
  await migrate({
    connectionUri: server.connectionUri,
    services: [
      {
        schema: "runs",
        role: "workflow_runs",
        directory: fileURLToPath(new URL("../migrations", import.meta.url)),
      },
    ],
  });
  proxy = await startPostgresProxy(server.connectionUri);
  receiver = await startHttpDouble(({ path }) => {
    // What is committed next is, among other things, that this step is done.
    if (path === "/two") proxy.loseAnswersToStatement(CHECKPOINTS, 1);
    if (path === "/held") deliver = proxy.holdStatement(CHECKPOINTS);
    if (path === "/waits") proxy.loseAnswersToCommits(1);
    return { body: { ok: true } };
  });
  harness = await startRunsHarness({
    databaseUrl: proxy.connectionUri,
    leaseMs: 1_000,
  });
});
afterEach(() => {
  expect(unhandled).toEqual([]);
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
  await proxy.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
  process.off("unhandledRejection", onUnhandled);
});

describe("while Postgres is away", () => {
  it("starts are refused as UNAVAILABLE, and every run that was accepted ends", async () => {
    const workflowId = await harness.deploy([
      mapping("a", "{{input.n}}"),
      httpStep("call", `${receiver.url}/call`),
      delay("rest", 200),
      expression("b", "steps.a.output * 2"),
    ]);
    const accepted = new Map<string, number>();
    const refusals: AppError[] = [];
    const stop = new AbortController();
    let n = 0;
    const keepStarting = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const input = { n: n++ };
        try {
          accepted.set(await harness.start(workflowId, input), input.n);
        } catch (error) {
          if (!isAppError(error)) throw error;
          refusals.push(error);
        }
      }
    };
    const callers = Array.from({ length: 4 }, keepStarting);
    for (let outage = 1; outage <= 2; outage++) {
      const before = accepted.size;
      await waitFor(() => accepted.size > before + 20, { what: "runs to be accepted" });
      await server.stop();
      const refused = refusals.length;
      await waitFor(() => refusals.length > refused + 4, { what: "starts to be refused" });
      server = await startLocalPostgres({ dataDir });
      proxy.setTarget(server.port);
    }
    const before = accepted.size;
    await waitFor(() => accepted.size > before, { what: "runs to be accepted again" });
    stop.abort();
    await Promise.all(callers);

    expect(new Set(refusals.map(({ reason }) => reason))).toEqual(new Set(["UNAVAILABLE"]));
    for (const [runId, input] of accepted) {
      const run = await harness.waitForEnd(runId);
      expect(run).toMatchObject({ status: RunStatus.COMPLETED, error: undefined });
      expect(outputOf(run)).toBe(input * 2);
    }
  });
});

describe("when the answer to a commit is lost", () => {
  it("a run's results and events are written once, and the run goes on", async () => {
    const workflowId = await harness.deploy([
      httpStep("one", `${receiver.url}/one`),
      httpStep("two", `${receiver.url}/two`),
      httpStep("three", `${receiver.url}/three`),
      mapping("end", "end"),
    ]);
    const runIds = await Promise.all(Array.from({ length: 20 }, () => harness.start(workflowId)));
    for (const runId of runIds) {
      const run = await harness.waitForEnd(runId);
      expect(run).toMatchObject({ status: RunStatus.COMPLETED, error: undefined });
      expect(run.stepResults.map(({ path }) => path)).toEqual(["one", "two", "three", "end"]);
      for (const step of ["one", "two", "three"]) {
        expect(receiver.countByKey(`${runId}:${step}:1`)).toBe(1);
      }
    }
    expect(proxy.answersLost()).toBeGreaterThan(0);
  });

  it("a run that waits is parked once, and goes on", async () => {
    const workflowId = await harness.deploy([
      httpStep("waits", `${receiver.url}/waits`),
      delay("rest", 6_000),
      mapping("end", "end"),
    ]);
    const before = proxy.answersLost();
    const runId = await harness.start(workflowId);
    const run = await harness.waitForEnd(runId);
    expect(run.stepResults.map(({ path }) => path)).toEqual(["waits", "rest", "end"]);
    expect(receiver.countByKey(`${runId}:waits:1`)).toBe(1);
    expect(proxy.answersLost()).toBe(before + 1);
  });

  it("an entry that arrives after it was asked about writes nothing", async () => {
    const workflowId = await harness.deploy([
      httpStep("held", `${receiver.url}/held`),
      httpStep("next", `${receiver.url}/next`),
      mapping("end", "end"),
    ]);
    const runId = await harness.start(workflowId);
    const run = await harness.waitForEnd(runId);
    expect(run.stepResults.map(({ path }) => path)).toEqual(["held", "next", "end"]);
    await deliver();
    expect(await harness.waitForEnd(runId)).toEqual(run);
    expect(receiver.countByKey(`${runId}:held:1`)).toBe(1);
  });

  it("a caller that tries again with its key gets the run that was started", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    const { identity } = harness;
    const request = { ...startRequest(workflowId), idempotencyKey: "" };
    await waitFor(async () => {
      // Until the connection is cut after the answer to the statement's preparation.
      request.idempotencyKey = randomUUID();
      proxy.loseAnswersToStatement("run_insert_keyed", 1);
      const refusal = await harness.runs.startRun(request, { identity }).then(
        () => null,
        (error: AppError) => error,
      );
      if (refusal !== null) expect(refusal.reason).toBe("UNAVAILABLE");
      return refusal !== null;
    });
    proxy.loseAnswersToStatement("run_insert_keyed", 0);
    const { existing, run } = await harness.runs.startRun(request, { identity });
    expect(existing).toBe(true);
    expect((await harness.waitForEnd(run?.id ?? "")).status).toBe(RunStatus.COMPLETED);
  });
});
