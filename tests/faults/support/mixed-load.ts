import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "@jest/globals";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { logEvents, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import type { SeparateSystem } from "../../support/separate-system.ts";
import { makeKinds, makeParentKind } from "./kinds.ts";
import type { Kind } from "./kinds.ts";

/** Different inputs of each kind. */
const INPUTS = 5;
/** The promise: so long after the last fault every accepted run has ended. */
const RECOVERY_MS = 60_000;
/** What is killed last accepts runs again before that: it has to start, which a busy machine takes its time for. */
const ACCEPTED_MS = 150_000;

/** A run that was accepted. */
interface Started {
  runId: string;
  workflow: Deployed;
  n: number;
}

interface Deployed {
  workflowId: string;
  kind: Kind;
  /** By input: what the same run looks like when nobody disturbs it. */
  twins: Map<number, Told>;
}

const told = z.object({
  status: z.string(),
  output: z.unknown(),
  error: z.unknown(),
  /** Path and status of each step result, by path. */
  steps: z.array(z.string()),
  /** Types of its events, by name. */
  events: z.array(z.string()),
});
/** What the database tells of a run. */
type Told = z.infer<typeof told>;

/** Runs of all kinds on a system that suffers, held to what they do on one that does not. */
export interface MixedLoad {
  /** Starts so many runs within so many milliseconds, each until it is accepted. */
  start(runs: number, withinMs: number): Promise<void>;
  /** Expects that every run accepted since the last time came to the end of its undisturbed twin. */
  expectTwins(): Promise<void>;
  close(): Promise<void>;
}

/** Deploys the kinds and runs each once with each input, before anything happens. */
export async function prepareMixedLoad(
  system: SeparateSystem,
  receiver: HttpDouble,
): Promise<MixedLoad> {
  const database = await openDatabase({
    connectionUri: system.databaseUri,
    applicationName: "test",
    // It suffers with the system.
    onError: () => {},
  });
  await logEvents(database);
  const stopping = new AbortController();
  const approving = approveAll(system, stopping.signal);
  const close = async (): Promise<void> => {
    stopping.abort();
    await approving;
    await database.end();
  };
  try {
    const workflows = await deployKinds(system, receiver.url);
    const twins = workflows.flatMap((workflow) =>
      Array.from({ length: INPUTS }, (_, n) => startOne(system, workflow, n, newUuid())),
    );
    for (const twin of await Promise.all(twins)) {
      twin.workflow.twins.set(twin.n, await readEnd(database, twin));
    }
    for (const { kind, twins: undisturbed } of workflows) {
      const statuses = [...undisturbed.values()].map(({ status }) => `${kind.name} ${status}`);
      expect(new Set(statuses)).toEqual(new Set([`${kind.name} completed`]));
    }
    let started: Started[] = [];
    let acceptedBefore = INPUTS * workflows.length;
    return {
      start: async (runs, withinMs) => {
        const starts = Array.from({ length: runs }, async (_, index) => {
          const workflow = workflows[index % workflows.length];
          if (workflow === undefined) throw new Error("There are no workflows.");
          await sleep((index * withinMs) / runs);
          const n = Math.floor(index / workflows.length) % INPUTS;
          started.push(await startOne(system, workflow, n, newUuid()));
        });
        await Promise.all(starts);
      },
      expectTwins: async () => {
        const since = started;
        started = [];
        acceptedBefore += since.length;
        await expectTwins(database, receiver, since);
        expect(await countAccepted(database, workflows)).toBe(acceptedBefore);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function deployKinds(system: SeparateSystem, url: string): Promise<Deployed[]> {
  const deploy = async (kind: Kind): Promise<Deployed> => {
    const { name, steps, settings } = kind;
    const created = await request(system, "POST", "/workflows", {
      name,
      steps,
      trigger: { type: "api" },
      ...(settings === undefined ? {} : { settings }),
    });
    const { id } = z.object({ id: z.string() }).parse(created.data);
    expect((await request(system, "POST", `/workflows/${id}/activate`)).status).toBe(200);
    return { workflowId: id, kind, twins: new Map() };
  };
  const deployed: Deployed[] = [];
  for (const kind of makeKinds(url)) deployed.push(await deploy(kind));
  const child = deployed.find(({ kind }) => kind.name === "calls");
  if (child !== undefined) deployed.push(await deploy(makeParentKind(child.workflowId)));
  return deployed;
}

/**
 * Asks for a run until it is accepted. The key makes one run of all the requests, those included
 * that were accepted though their answer was lost.
 */
async function startOne(
  system: SeparateSystem,
  workflow: Deployed,
  n: number,
  idempotencyKey: string,
): Promise<Started> {
  const accepted = await waitFor(
    async () => {
      const path = `/workflows/${workflow.workflowId}/run`;
      const answer = await request(system, "POST", path, { input: { n }, idempotencyKey });
      // Whatever the system suffers, a caller is asked to come back, never told that it is his fault.
      if (answer.status >= 400 && answer.status < 500) return { refused: answer };
      if (answer.status >= 500) throw new Error(`answered ${answer.status}`);
      return z.object({ run_id: z.string() }).parse(answer.data);
    },
    { timeoutMs: ACCEPTED_MS, intervalMs: 200, what: "a run to be accepted" },
  );
  if ("refused" in accepted) throw new Error(`refused: ${JSON.stringify(accepted.refused)}`);
  return { runId: accepted.run_id, workflow, n };
}

async function expectTwins(
  database: Database,
  receiver: HttpDouble,
  started: readonly Started[],
): Promise<void> {
  const deadline = Date.now() + RECOVERY_MS;
  for (const run of started) {
    const { workflow, n } = run;
    const end = await readEnd(database, run, deadline - Date.now());
    expect({ kind: workflow.kind.name, n, ...end }).toEqual({
      kind: workflow.kind.name,
      n,
      ...workflow.twins.get(n),
    });
  }
  expect(await countRest(database)).toEqual({ live: 0, tasks: 0, open: 0, slots: 0 });
  const keys = receiver.keyCounts();
  const silent = started.filter(
    ({ runId, workflow }) =>
      workflow.kind.name === "calls" &&
      !(keys.has(`${runId}:before:1`) && keys.has(`${runId}:after:1`)),
  );
  expect(silent).toEqual([]);
  await waitFor(async () => (await countUnpublished(database)) === 0, {
    timeoutMs: RECOVERY_MS,
    what: "every event to be published",
  });
}

/** Reads a run when it has ended. */
async function readEnd(
  database: Database,
  { runId, workflow, n }: Started,
  timeoutMs = RECOVERY_MS,
): Promise<Told> {
  return waitFor(
    async () => {
      const run = await readRun(database, runId);
      if (ENDED.has(run.status)) return run;
      throw new Error(JSON.stringify(run));
    },
    {
      timeoutMs: Math.max(0, timeoutMs),
      intervalMs: 100,
      what: `run ${runId} (${workflow.kind.name}, n = ${n}) to end`,
    },
  );
}

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "timeout", "cancelled"]);

function readRun(database: Database, runId: string): Promise<Told> {
  return database.one(sql.type(told)`
    select run.status, run.output, run.error,
      array(
        select path || ' ' || status from runs.step_results where run_id = run.id order by path
      ) as steps,
      array(
        select type from runs.event_log where payload -> 'data' ->> 'runId' = run.id order by type
      ) as events
    from runs.runs as run where run.id = ${runId}
  `);
}

/** Runs that callers asked for; one a key, however often it was asked for. */
async function countAccepted(database: Database, workflows: readonly Deployed[]): Promise<number> {
  const ids = workflows.map(({ workflowId }) => workflowId);
  const row = await database.one(sql.type(z.object({ runs: z.number() }))`
    select count(*)::integer as runs from runs.runs
    where workflow_id = any(${sql.array(ids, "uuid")}) and parent_run_id is null
  `);
  return row.runs;
}

const restRow = z.object({
  live: z.number(),
  tasks: z.number(),
  open: z.number(),
  slots: z.number(),
});

/** What is left behind when everything has ended. */
function countRest(database: Database) {
  return database.one(sql.type(restRow)`
    select
      (select count(*)::integer from runs.runs where completed_at is null) as live,
      (select count(*)::integer from runs.tasks) as tasks,
      (select count(*)::integer from runs.open_steps) as open,
      (select count(*)::integer from runs.concurrency_slots) as slots
  `);
}

async function countUnpublished(database: Database): Promise<number> {
  const row = await database.one(sql.type(z.object({ events: z.number() }))`
    select count(*)::integer as events from runs.outbox where published_at is null
  `);
  return row.events;
}

const waitingApprovals = z.array(z.object({ id: z.string(), runId: z.string() }));

/** Says yes to every approval until the signal; what fails is asked again in the next round. */
async function approveAll(system: SeparateSystem, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const list = await request(system, "GET", "/approvals?status=waiting&limit=100");
      for (const { id, runId } of waitingApprovals.parse(list.data)) {
        await request(system, "POST", `/runs/${runId}/approvals/${id}`, { decision: "approved" });
      }
    } catch {
      // The system suffers.
    }
    await sleep(200, undefined, { signal }).catch(() => {});
  }
}

const envelope = z.object({ data: z.unknown().optional(), error: z.unknown().optional() });

async function request(system: SeparateSystem, method: string, path: string, body?: unknown) {
  const response = await fetch(system.baseUrl + path, {
    method,
    headers: { "x-api-key": system.apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...envelope.parse(await response.json()) };
}
