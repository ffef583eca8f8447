import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate, newId, newUuid, sql } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  mapping,
  startRunsHarness,
  testIdentity,
  WEBHOOKS_SERVICE,
} from "../tests/support/runs-harness.ts";

/**
 * Events of 100 companies, with one workflow each that waits for them: `node services/runs/bench/triggered-runs.ts`.
 * API, worker and the caller are one process, Postgres is durable. It prints events accepted a second while
 * their runs are executed beside, what an event costs the process and Postgres, and rows and bytes written.
 */
const EVENTS = 20_000;
const COMPANIES = 100;
const CALLS = 4;
const EVENTS_OF_CALL = 50;

const nothing = z.object({});
const figuresRow = z.object({
  ended: z.int(),
  updates: z.number(),
  hotUpdates: z.number(),
  walBytes: z.number(),
});

const dataDir = await mkdtemp(join(tmpdir(), "triggered-"));
const postgres = await startLocalPostgres({ dataDir, durable: true });
const directory = join(import.meta.dirname, "../migrations");
await migrate({
  connectionUri: postgres.connectionUri,
  services: [{ schema: "runs", role: "workflow_runs", directory }],
});
const harness = await startRunsHarness({ databaseUrl: postgres.connectionUri });
const companies = Array.from({ length: COMPANIES }, () => testIdentity(newUuid()));
for (const identity of companies) {
  const trigger = { type: "webhook", path: "orders" };
  await harness.deploy([mapping("a", "{{input.order}}")], { trigger, identity });
}
await harness.database.query(sql.type(nothing)`select pg_stat_reset()`);
const before = await look();
const cpu = process.cpuUsage();
const begunAt = performance.now();
await Promise.all(Array.from({ length: CALLS }, bringAll));
const acceptedMs = performance.now() - begunAt;
const after = await waitFor(
  async () => {
    const now = await look();
    return now.ended === EVENTS ? now : null;
  },
  { timeoutMs: 300_000, intervalMs: 250, what: "all runs to end" },
);
const endedMs = performance.now() - begunAt;
const { user, system } = process.cpuUsage(cpu);
const figures = {
  acceptedPerSecond: Math.round((EVENTS / acceptedMs) * 1_000),
  endedPerSecond: Math.round((EVENTS / endedMs) * 1_000),
  processorMicrosEach: Math.round((user + system) / EVENTS),
  walBytesEach: Math.round((after.walBytes - before.walBytes) / EVENTS),
  updatesEach: after.updates / EVENTS,
  hotUpdatesEach: after.hotUpdates / EVENTS,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
await harness.close();
await postgres.stop();
await rm(dataDir, { recursive: true });

async function bringAll(): Promise<void> {
  for (let brought = 0; brought < EVENTS / CALLS; brought += EVENTS_OF_CALL) {
    const events = Array.from({ length: EVENTS_OF_CALL }, (_, place) => ({
      companyId: companies[(brought + place) % COMPANIES]?.companyId ?? "",
      eventId: newId("evt_"),
      source: { $case: "path", value: "orders" } as const,
      inputJson: JSON.stringify({ order: place, text: "x".repeat(500) }),
      triggerJson: JSON.stringify({ headers: { "content-type": "application/json" }, query: {} }),
      requestId: undefined,
    }));
    const request = { events };
    const { results } = await harness.triggers.startTriggeredRuns(request, {
      identity: WEBHOOKS_SERVICE,
    });
    if (results.some(({ runs }) => runs.length !== 1)) throw new Error("an event started no run");
  }
}

function look() {
  return harness.database.one(sql.type(figuresRow)`
    select
      (select count(*)::integer from runs.runs where completed_at is not null) as ended,
      (select sum(n_tup_upd)::float8 from pg_stat_user_tables where relname ~ '^runs_') as updates,
      (select sum(n_tup_hot_upd)::float8 from pg_stat_user_tables where relname ~ '^runs_')
        as "hotUpdates",
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes"
  `);
}
