import { randomBytes } from "node:crypto";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { migrate, openDatabase, sql } from "@workflow/db";
import type { Database, SqlFragment } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { createCompany, verifyAudit } from "@workflow/service-gateway/admin";
import { createTestTokens, startHttpDouble, startLocalNats, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { connect } from "nats";
import { z } from "zod";
import { callApi } from "../support/api-client.ts";
import type { Answer } from "../support/api-client.ts";
import { startApart } from "../support/apart/start-apart.ts";
import { takeBaseBackup } from "../support/base-backup.ts";
import { LONG } from "./support/length.ts";
import { until2xx } from "./support/repeat.ts";
import { idOf, create, activate, startRun, endOf, deliveries } from "./support/greeting-runs.ts";

/*
 * A physical backup of a system under load is restored while NATS still has everything that came after it. Each
 * case checks one promise of docs/ops/backup.md, all of them on the same restored system.
 */

const SECRET = "a-value-that-only-the-kek-opens";
const ROWS = 300;
const ROOT = join(import.meta.dirname, "../..");
const SCHEMAS = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"];
const ONE_OF_EACH = { gateway: 1, "runs-api": 1, "runs-worker": 1, tables: 1, webhooks: 1 };

const scope = createScope();
const tokens = createTestTokens();
const secretsKek = randomBytes(32).toString("base64");
let folder: string;
/** The server of the database: the first one, and after the restore the second one. */
let postgres: LocalPostgres;
let database: Database;
let natsUrl: string;
let receiver: HttpDouble;
/** The origin of the system that runs. */
let origin: string;
let apiKey: string;
let workflowId: string;
let scheduledId: string;
let tableId: string;
/** Runs accepted before the backup, those of them that had ended by then, and runs accepted after it. */
const runs = {
  before: new Array<string>(),
  ended: new Array<string>(),
  after: new Array<string>(),
};
let lostWorkflowId: string;

beforeAll(async () => {
  receiver = await startHttpDouble();
  scope.defer(() => receiver.close());
  const nats = await startLocalNats();
  scope.defer(() => nats.stop());
  natsUrl = nats.url;
  folder = await mkdtemp(join(tmpdir(), "restore-"));
  scope.defer(() => rm(folder, { recursive: true, force: true }));
  await startServer("first");
  await makeDatabase();
  const first = createScope();
  scope.defer(() => first.close());
  const { parts } = await startServices(first);
  await prepare();
  await backUpUnderLoad(() => parts.named("webhooks").stop());
  await first.close();
  await postgres.stop();
  await restore();
}, LONG);
afterAll(() => scope.close());

describe("a system on a backup that was taken under load", () => {
  it("goes on with each run that was accepted before, to the end that it would have had", async () => {
    expect(runs.before.length).toBeGreaterThan(5);
    for (const runId of runs.before) {
      const run = await endOf(call, runId);
      expect(run).toMatchObject({ status: "completed", output: { text: "Hello Ada" } });
    }
    // No run is left over, not even one accepted while the backup was taken.
    await waitFor(async () => expect(await countOf(sql.fragment`runs.tasks`)).toBe(0), {
      timeoutMs: 60_000,
    });
    expect(await countOf(sql.fragment`runs.runs where completed_at is null`)).toBe(0);
  });

  it("knows no run that was accepted after it", async () => {
    expect(runs.after.length).toBeGreaterThan(0);
    for (const runId of runs.after) {
      expect((await call("GET", `/runs/${runId}`)).status).toBe(404);
    }
    expect((await call("GET", `/workflows/${lostWorkflowId}`)).status).toBe(404);
  });

  it("opens the secrets, which steps use as before", async () => {
    const shown = receiver.requests.filter(({ path }) => path === "/step");
    expect(new Set(shown.map(({ headers }) => headers["x-token"]))).toEqual(new Set([SECRET]));
    const runId = await startRun(call, workflowId);
    expect(await endOf(call, runId)).toMatchObject({ status: "completed" });
  });

  it("has exactly the rows that were there, and counts on from them", async () => {
    const stored = await countOf(sql.fragment`tables.rows`);
    expect(stored).toBeGreaterThanOrEqual(ROWS + runs.before.length);
    expect(await largeRows()).toBe(
      await countOf(sql.fragment`tables.rows where (data ->> 'n')::int >= 100`),
    );
    const inserted = await call("POST", `/tables/${tableId}/rows`, { data: { n: 100 } });
    expect(inserted.status).toBe(201);
    expect(await largeRows()).toBe(
      await countOf(sql.fragment`tables.rows where (data ->> 'n')::int >= 100`),
    );
    expect(await countOf(sql.fragment`tables.rows`)).toBe(stored + 1);
    const figures = await database.one(sql.type(z.object({ exact: z.boolean() }))`
      select row_count = (select count(*) from tables.rows) as exact
      from tables.table_states
    `);
    expect(figures).toEqual({ exact: true });
  });

  it("makes up for a schedule's missed firings by one run, however many there were", async () => {
    await waitFor(async () => expect(await countScheduled()).toBe(1), { timeoutMs: 60_000 });
    const { isAhead } = await database.one(sql.type(z.object({ isAhead: z.boolean() }))`
      select next_run_at > now() as "isAhead" from runs.schedules where workflow_id = ${scheduledId}
    `);
    expect(isAhead).toBe(true);
    expect(await countScheduled()).toBe(1);
  });

  it("delivers every end, those that the backup knows under one id however often they are sent", async () => {
    await waitFor(
      async () => {
        const delivered = new Set(deliveries(receiver).map(({ runId }) => runId));
        expect(runs.before.filter((runId) => !delivered.has(runId))).toEqual([]);
      },
      // Ends whose events the bus left out as known are found again within about a minute.
      { timeoutMs: 180_000, what: "the deliveries" },
    );
    const sent = Map.groupBy(deliveries(receiver), ({ runId }) => runId);
    const idsOf = (runId: string) => new Set(sent.get(runId)?.map(({ id }) => id)).size;
    expect(runs.ended.filter((runId) => idsOf(runId) !== 1)).toEqual([]);
    // A run that was live at the backup ends once more, which is another event.
    expect(runs.before.filter((runId) => idsOf(runId) > 2)).toEqual([]);
  });

  it("delivers what NATS still has of runs that are gone, without their input and output", async () => {
    const ofLost = () => deliveries(receiver).filter(({ runId }) => runs.after.includes(runId));
    await waitFor(() => expect(ofLost().length).toBeGreaterThan(0), { timeoutMs: 60_000 });
    expect(ofLost().filter(({ hasInput }) => hasInput)).toEqual([]);
    expect(await countOf(sql.fragment`webhooks.dead_letters`)).toBe(0);
    expect(await countOf(sql.fragment`webhooks.outbound_events where failed_at is not null`)).toBe(
      0,
    );
  });

  it("has an unbroken audit log, with what NATS tells of changes that are gone", async () => {
    await waitFor(async () => expect(await countAudited(lostWorkflowId)).toBeGreaterThan(0), {
      timeoutMs: 60_000,
    });
    expect(await verifyAudit(database)).toMatchObject({ ok: true });
    expect(await countOf(sql.fragment`gateway.dead_letters`)).toBe(0);
  });
});

async function prepare(): Promise<void> {
  const made = await call("POST", "/tables", {
    name: "Rows",
    columns: [{ id: "n", name: "n", type: "number" }],
  });
  expect(made.status).toBe(201);
  tableId = idOf(made);
  const insert = Array.from({ length: ROWS }, (_, n) => ({ data: { n } }));
  const rows = await call("POST", `/tables/${tableId}/rows/batch`, { insert });
  expect(rows.status).toBe(200);
  expect(await largeRows()).toBe(ROWS - 100);

  workflowId = await create(call, receiver, { type: "api" });
  const secret = { key: "TOKEN", value: SECRET };
  expect((await call("POST", `/workflows/${workflowId}/secrets`, secret)).status).toBe(200);
  await activate(call, workflowId);
  scheduledId = await create(
    call,
    receiver,
    { type: "schedule", cron: "*/10 * * * *", catchUp: "last" },
    [],
  );
  await activate(call, scheduledId);
  const endpoint = { name: "all", url: `${receiver.url}/events`, events: ["workflow.completed"] };
  await until2xx(() => call("POST", "/webhook-endpoints", endpoint));
}

/** Takes the backup while runs are accepted and rows are written; some runs follow after it. */
async function backUpUnderLoad(stopWebhooks: () => Promise<void>): Promise<void> {
  await underLoad(runs.before, async () => {
    await waitFor(() => expect(runs.before.length).toBeGreaterThan(10), { timeoutMs: 60_000 });
    runs.ended.push(...runs.before.slice(0, 1));
    for (const runId of runs.ended) await endOf(call, runId);
  });
  await underLoad([], async () => {
    const [from, to] = [join(folder, "first"), join(folder, "second")];
    await mkdir(to);
    await takeBaseBackup(postgres.connectionUri, join(from, "pgdata"), join(to, "pgdata"));
    // The file holds the superuser's password, which is in the database.
    await copyFile(join(from, "postgres.json"), join(to, "postgres.json"));
  });
  // What NATS has of the runs from here on waits for the restored system.
  await stopWebhooks();
  for (let n = 0; n < 3; n += 1) runs.after.push(await startRun(call, workflowId));
  lostWorkflowId = await create(call, receiver, { type: "api" });
  for (const runId of runs.after)
    expect(await endOf(call, runId)).toMatchObject({ status: "completed" });
}

/** Starts runs and writes rows until `meanwhile` is done, or has failed. */
async function underLoad(accepted: string[], meanwhile: () => Promise<void>): Promise<void> {
  const done = new AbortController();
  const load = async (): Promise<void> => {
    while (!done.signal.aborted) {
      accepted.push(await startRun(call, workflowId));
      const body = { data: { n: 1_000 } };
      expect((await call("POST", `/tables/${tableId}/rows`, body)).status).toBe(201);
      await sleep(50);
    }
  };
  await Promise.all([load(), meanwhile().finally(() => done.abort())]);
}

/** Restores as an operator does: the copy becomes the folder of another server, and services start on it. */
async function restore(): Promise<void> {
  await startServer("second");
  database = await openDatabase({
    connectionUri: postgres.connectionUri,
    applicationName: "test",
  });
  scope.defer(() => database.end());
  await ageSchedules();
  await readAgain("audit", "gateway-audit");
  await startServices(scope);
}

async function startServer(name: string): Promise<void> {
  const server = await startLocalPostgres({ dataDir: join(folder, name), durable: false });
  scope.defer(() => server.stop());
  postgres = server;
}

async function makeDatabase(): Promise<void> {
  const services = SCHEMAS.map((schema) => ({
    schema,
    role: `workflow_${schema}`,
    directory: join(ROOT, "services", schema, "migrations"),
  }));
  const { connectionUri } = postgres;
  await migrate({ connectionUri, services });
  const admin = await openDatabase({ connectionUri, applicationName: "test" });
  try {
    const owner = { email: "owner@example.test", password: "correct horse battery staple" };
    ({ apiKey } = await createCompany(admin, { name: "Restored", ...owner }));
  } finally {
    await admin.end();
  }
}

async function startServices(into: Scope) {
  const apart = await startApart(
    {
      databaseUrl: postgres.connectionUri,
      natsUrl,
      tokens,
      secretsKek,
      replicas: ONE_OF_EACH,
    },
    into,
  );
  ({ origin } = apart);
  return apart;
}

/** Makes the schedules those of a backup that is three hours old. */
async function ageSchedules(): Promise<void> {
  await database.query(sql.type(z.object({}))`
    update runs.schedules set next_run_at = next_run_at - interval '3 hours',
      anchor = anchor - interval '3 hours'
  `);
  await database.query(sql.type(z.object({}))`
    update runs.scheduler_presence set looked_at = looked_at - interval '3 hours'
  `);
}

/** Removes a consumer, so that its service makes it anew and reads its stream from the beginning. */
async function readAgain(stream: string, consumer: string): Promise<void> {
  const connection = await connect({ servers: natsUrl });
  try {
    const manager = await connection.jetstreamManager();
    expect(await manager.consumers.delete(stream, consumer)).toBe(true);
  } finally {
    await connection.close();
  }
}

function call(method: string, path: string, body?: unknown): Promise<Answer> {
  return callApi(`${origin}/api/v1${path}`, method, { key: apiKey, body });
}

/** The number of rows that a filter finds; the tables service answers it from memory. */
async function largeRows(): Promise<number | undefined> {
  const filter = { n: { condition: { operator: "greater_than_or_equal", value: 100 } } };
  const answer = await call("POST", `/tables/${tableId}/rows/query`, { filter, limit: 1 });
  expect(answer.status).toBe(200);
  return answer.rowsMeta?.total;
}

/** @param rows a table, and a condition where it needs one */
async function countOf(rows: SqlFragment): Promise<number> {
  const { count } = await database.one(sql.type(z.object({ count: z.number() }))`
    select count(*)::integer as count from ${rows}
  `);
  return count;
}

const countScheduled = () => countOf(sql.fragment`runs.runs where workflow_id = ${scheduledId}`);

const countAudited = (id: string) =>
  countOf(sql.fragment`gateway.audit_log where resource_id = ${id}`);
