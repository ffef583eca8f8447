import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { logEvents, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { SeparateSystem } from "../support/separate-system.ts";

const scope = createScope();
let system: SeparateSystem;
let receiver: HttpDouble;
let database: Database;
/** Answers the first request of each step, which waits for this; later ones are answered at once. */
let answerFirst: () => void = () => {};

beforeAll(async () => {
  const held = new Promise<void>((resolve) => (answerFirst = resolve));
  receiver = await startHttpDouble(async ({ idempotencyKey }) => {
    const nth = receiver.countByKey(idempotencyKey ?? "");
    if (nth === 1) await held;
    return { status: 200, body: { nth } };
  });
  scope.defer(() => receiver.close());
  scope.defer(() => answerFirst());
  system = await startSeparateSystem();
  scope.defer(() => system.stop());
  database = await openDatabase({ connectionUri: system.databaseUri, applicationName: "test" });
  await logEvents(database);
  scope.defer(() => database.end());
});
afterAll(() => scope.close());

const runRow = z.object({
  status: z.string(),
  output: z.unknown(),
  /** Changes with each write to the run's row. */
  version: z.string(),
  results: z.number(),
  events: z.array(z.string()),
});

function readRun(runId: string): Promise<z.infer<typeof runRow>> {
  return database.one(sql.type(runRow)`
    select status, output, run.xmin::text as version,
      (select count(*)::integer from runs.step_results where run_id = run.id) as results,
      array(select type from runs.event_log where payload -> 'data' ->> 'runId' = run.id order by seq)
        as events
    from runs.runs as run where id = ${runId}
  `);
}

async function startRun(): Promise<string> {
  const step = (id: string, type: string, more: object) => ({ id, type, name: id, ...more });
  const call = { method: "POST", url: receiver.url };
  const created = await system.call("POST", "/workflows", {
    name: "Freeze",
    trigger: { type: "api" },
    steps: [
      step("call", "action", { action: "http.request", config: call }),
      step("out", "transform", { config: { mapping: "{{steps.call.output.body.nth}}" } }),
    ],
  });
  const id = String(created.body.data["id"]);
  await system.call("POST", `/workflows/${id}/activate`);
  const started = await system.call("POST", `/workflows/${id}/run`);
  return String(started.body.data["run_id"]);
}

describe("a worker that freezes in a call, loses its lease and wakes up again", () => {
  it("finds its late results refused, and works on", async () => {
    const runId = await startRun();
    await waitFor(() => receiver.countByKey(`${runId}:call:1`) === 1);
    await system.kill("runs-worker", "SIGSTOP");
    await system.start("runs-worker-2");
    const ended = await waitFor(
      async () => {
        const run = await readRun(runId);
        return run.status === "completed" ? run : null;
      },
      { timeoutMs: 60_000, what: "the other worker to end the run" },
    );
    // The second worker made the call again, and its answer counts.
    expect(ended).toMatchObject({ output: 2, results: 2 });
    expect(ended.events).toEqual(["workflow.started", "workflow.completed"]);

    await system.kill("runs-worker-2", "SIGKILL");
    answerFirst();
    await system.kill("runs-worker", "SIGCONT");
    // When it has executed another run, it has long had the answer to the first one's call.
    const next = await startRun();
    await waitFor(async () => (await readRun(next)).status === "completed", {
      timeoutMs: 60_000,
      what: "the worker that was frozen to go on working",
    });
    expect(await readRun(runId)).toEqual(ended);
  });
});
