import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { createRelay } from "../support/relay.ts";
import type { Relay } from "../support/relay.ts";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { SeparateSystem } from "../support/separate-system.ts";
import { LONG } from "./support/length.ts";
import { spread } from "./support/repeat.ts";
import {
  promote,
  removeServer,
  replicateSynchronously,
  startPrimary,
  startStandby,
} from "./support/standby.ts";
import type { DatabaseServer } from "./support/standby.ts";

const RUNS = 40;
const LOAD_MS = 6_000;
const STARTS_AT_ONCE = 8;
const RECOVERY_MS = 90_000;
const ACCEPTED_MS = 150_000;
const DELIVERED = "/delivered";

const scope = createScope();
const place = { host: "127.0.0.1", port: 0 };
let relay: Relay;
/** All that were started, dead ones included. */
const servers: DatabaseServer[] = [];
let primary: DatabaseServer;
let system: SeparateSystem;
let receiver: HttpDouble;
let database: Database;
let workflowId: string;

beforeAll(async () => {
  receiver = await startHttpDouble();
  scope.defer(() => receiver.close());
  scope.defer(async () => {
    // Newest first: one may have taken over the folder of another.
    for (const server of servers.toReversed()) await removeServer(server);
  });
  primary = keep(await startPrimary());
  relay = await createRelay(place);
  place.port = primary.postgres.port;
  await relay.open();
  scope.defer(() => relay.close());
  const { password } = new URL(primary.postgres.connectionUri);
  const databaseUri = `postgresql://postgres:${password}@127.0.0.1:${relay.port}/postgres`;
  const webhooks = { DELIVERY_RETRY_DELAYS_MS: "300,600,1000,2000,3000,5000,8000,8000" };
  system = await startSeparateSystem({ databaseUri, webhooks });
  scope.defer(() => system.stop());
  database = await openDatabase({
    connectionUri: databaseUri,
    applicationName: "test",
    onError: () => {},
  });
  scope.defer(() => database.end());
  workflowId = await activeWorkflow();
  await makeEndpoint();
}, LONG);
afterAll(() => scope.close());

describe("a standby that takes over from a primary that was killed", () => {
  it(
    "has every accepted run when it is synchronous; else the last ones are gone, whole, and their starts can be repeated",
    async () => {
      const standby = keep(await startStandby(primary));
      await replicateSynchronously(primary);
      const keys = newKeys();
      const starting = startAll(keys);
      await sleep(LOAD_MS / 2);
      await primary.crash();
      await takeOver(standby);
      const accepted = await starting;
      await untilAllDone(keys.length);

      expect(await statusesOf([...accepted.values()])).toEqual({ completed: RUNS });
      await expectTold([...accepted.values()]);

      // From now on nobody waits for the standby, which stops getting anything.
      const late = keep(await startStandby(primary));
      const kept = await startAll(newKeys());
      await untilAllDone(2 * RUNS);
      await waitFor(async () => isLevel(late), { what: "the standby to have what was done" });
      await late.stop();
      const lostKeys = newKeys();
      const lost = await startAll(lostKeys);
      await untilAllDone(3 * RUNS);
      await primary.crash();
      await takeOver(keep(await late.startAlone()));

      expect(await statusesOf([...lost.values()])).toEqual({});
      const [runId = ""] = lost.values();
      await waitFor(async () =>
        expect(await system.call("GET", `/runs/${runId}`)).toMatchObject({ status: 404 }),
      );
      expect(await statusesOf([...accepted.values(), ...kept.values()])).toEqual({
        completed: 2 * RUNS,
      });
      const repeated = await startAll(lostKeys);
      await untilAllDone(3 * RUNS);
      expect(await statusesOf([...repeated.values()])).toEqual({ completed: RUNS });
      await expectTold([...kept.values(), ...repeated.values()]);
      expect(await orphans()).toEqual({ steps: 0, tasks: 0, open: 0, slots: 0, deliveries: 0 });
    },
    LONG + 3 * RECOVERY_MS,
  );
});

/** The end of this file stops and removes it, also when a test fails before it takes over. */
function keep(server: DatabaseServer): DatabaseServer {
  servers.push(server);
  return server;
}

const newKeys = (): string[] => Array.from({ length: RUNS }, () => newUuid());

/** Leads the services to another server, as an operator does once the old one cannot come back; then promotes it. */
async function takeOver(standby: DatabaseServer): Promise<void> {
  primary = standby;
  await relay.close();
  place.port = standby.postgres.port;
  await relay.open();
  // For a moment the services meet a server that takes no writes.
  await sleep(500);
  await promote(standby);
}

/** Starts a run for each key, each until it is accepted; the runs by their keys. */
async function startAll(keys: readonly string[]): Promise<Map<string, string>> {
  const runs = new Map<string, string>();
  await spread({ count: keys.length, width: STARTS_AT_ONCE, withinMs: LOAD_MS }, async (n) => {
    const idempotencyKey = keys[n] ?? "";
    const runId = await waitFor(
      async () => {
        const path = `/workflows/${workflowId}/run`;
        const { status, body } = await system.call("POST", path, { input: { n }, idempotencyKey });
        if (status === 503) throw new Error("answered 503");
        // Whatever its database does, a caller is asked to come back.
        return { status, runId: z.string().optional().parse(body.data["run_id"]) };
      },
      { timeoutMs: ACCEPTED_MS, intervalMs: 200, what: "a run to be accepted" },
    );
    expect([200, 202]).toContain(runId.status);
    runs.set(idempotencyKey, runId.runId ?? "");
  });
  return runs;
}

/** Waits until there are so many runs, all ended, and nothing is left to be done for them. */
async function untilAllDone(runs: number): Promise<void> {
  const rest = z.object({ runs: z.number(), live: z.number(), unpublished: z.number() });
  await waitFor(
    async () => {
      const left = await database.one(sql.type(rest)`
        select
          (select count(*)::integer from runs.runs) as runs,
          (select count(*)::integer from runs.runs where completed_at is null) as live,
          (select count(*)::integer from runs.outbox where published_at is null) as unpublished
      `);
      expect(left).toEqual({ runs, live: 0, unpublished: 0 });
    },
    { timeoutMs: RECOVERY_MS, intervalMs: 250, what: `${runs} runs to be done` },
  );
}

async function statusesOf(runIds: readonly string[]): Promise<Record<string, number>> {
  const counted = z.object({ status: z.string(), count: z.number() });
  const rows = await waitFor(
    () =>
      database.any(sql.type(counted)`
        select status, count(*)::integer as count from runs.runs
        where id = any(${sql.array([...runIds], "text")}) group by status
      `),
    { what: "the database" },
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Each run has called the receiver under its key, and its end was delivered under one id. */
async function expectTold(runIds: readonly string[]): Promise<void> {
  const calls = receiver.keyCounts();
  expect(runIds.filter((runId) => !calls.has(`${runId}:call:1`))).toEqual([]);
  const delivered = z.object({ id: z.string(), runId: z.string() });
  await waitFor(
    () => {
      const ids = new Map<string, Set<string>>();
      for (const { path, body } of receiver.requests) {
        if (path !== DELIVERED) continue;
        const { id, runId } = delivered.parse(JSON.parse(body));
        ids.set(runId, (ids.get(runId) ?? new Set()).add(id));
      }
      expect(runIds.filter((runId) => ids.get(runId)?.size !== 1)).toEqual([]);
    },
    { timeoutMs: RECOVERY_MS, intervalMs: 250, what: "every delivery" },
  );
}

/** Rows of runs that are not there. */
function orphans() {
  const counts = z.object({
    steps: z.number(),
    tasks: z.number(),
    open: z.number(),
    slots: z.number(),
    deliveries: z.number(),
  });
  return database.one(sql.type(counts)`
    select
      (select count(*)::integer from runs.step_results
        where run_id not in (select id from runs.runs)) as steps,
      (select count(*)::integer from runs.tasks) as tasks,
      (select count(*)::integer from runs.open_steps) as open,
      (select count(*)::integer from runs.concurrency_slots) as slots,
      (select count(*)::integer from webhooks.deliveries where status = 'pending') as deliveries
  `);
}

/** Whether a standby has all that its primary has written. */
async function isLevel(standby: DatabaseServer): Promise<boolean> {
  const [at] = await primary.ask<{ at: string }>("select pg_current_wal_lsn()::text as at");
  const [level] = await standby.ask<{ level: boolean }>(
    `select pg_last_wal_replay_lsn() >= '${at?.at}'::pg_lsn as level`,
  );
  return level?.level ?? false;
}

async function activeWorkflow(): Promise<string> {
  const call = {
    id: "call",
    type: "action",
    name: "call",
    action: "http.request",
    config: { method: "POST", url: `${receiver.url}/effect`, body: { n: "{{input.n}}" } },
  };
  const body = { name: "Kept", trigger: { type: "api" }, steps: [call] };
  const id = String((await system.call("POST", "/workflows", body)).body.data["id"]);
  expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
  return id;
}

async function makeEndpoint(): Promise<void> {
  const body = { name: "Told", url: receiver.url + DELIVERED, events: ["workflow.completed"] };
  await waitFor(
    async () =>
      expect(await system.call("POST", "/webhook-endpoints", body)).toMatchObject({ status: 201 }),
    { timeoutMs: ACCEPTED_MS, what: "the webhooks service" },
  );
}
