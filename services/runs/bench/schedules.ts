import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate, newUuid, sql } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { mapping, startRunsHarness, testIdentity } from "../tests/support/runs-harness.ts";

/**
 * Schedules that are due at the same moment: `node services/runs/bench/schedules.ts`. Two processes, each with
 * a scheduler and a worker, share one Postgres; no deployment is in memory. Half of the schedules belong to
 * one company, the others to 100.
 *
 * 2026-11-22, 2 cores of a machine with three times as much other work: all runs are stored after 9.4 s and
 * begun 0.1 s later, for 2.4 s of processor time in each process.
 */
const SCHEDULES = 5_000;
const COMPANIES = 100;
const AHEAD_MS = 8_000;

const firedRow = z.object({
  fired: z.int(),
  firedAfterMs: z.number().nullable(),
  started: z.int(),
  startedAfterMs: z.number().nullable(),
});
const nothing = z.object({});

const [, , role, databaseUrl = ""] = process.argv;
await (role === "another" ? beAnother() : measure());

/** The second process. */
async function beAnother(): Promise<void> {
  const harness = await startRunsHarness({ databaseUrl });
  process.send?.("ready");
  await once(process, "disconnect");
  await harness.close();
}

async function measure(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "schedules-"));
  const postgres = await startLocalPostgres({ dataDir, durable: true });
  const directory = join(import.meta.dirname, "../migrations");
  await migrate({
    connectionUri: postgres.connectionUri,
    services: [{ schema: "runs", role: "workflow_runs", directory }],
  });
  await deployAll(postgres.connectionUri);
  const one = await startRunsHarness({ databaseUrl: postgres.connectionUri });
  const another = fork(import.meta.filename, ["another", postgres.connectionUri]);
  await once(another, "message");
  const cpu = process.cpuUsage();
  const dueAt = new Date(Date.now() + AHEAD_MS);
  await one.database.query(sql.type(nothing)`
    update runs.schedules set next_run_at = ${dueAt.toISOString()}
  `);
  const look = () =>
    one.database.one(sql.type(firedRow)`
      select count(*)::integer as fired, count(started_at)::integer as started,
        extract(epoch from max(created_at) - ${dueAt.toISOString()})::float8 * 1000 as "firedAfterMs",
        extract(epoch from max(started_at) - ${dueAt.toISOString()})::float8 * 1000 as "startedAfterMs"
      from runs.runs
    `);
  const figures = await waitFor(
    async () => {
      const now = await look();
      return now.started === SCHEDULES ? now : null;
    },
    { timeoutMs: 120_000, intervalMs: 500, what: "all schedules to fire" },
  );
  const { user, system } = process.cpuUsage(cpu);
  const processorMsOfOne = Math.round((user + system) / 1000);
  process.stdout.write(`${JSON.stringify({ ...figures, processorMsOfOne })}\n`);
  another.disconnect();
  await once(another, "exit");
  await one.close();
  await postgres.stop();
  await rm(dataDir, { recursive: true });
}

async function deployAll(connectionUri: string): Promise<void> {
  const harness = await startRunsHarness({ databaseUrl: connectionUri });
  const companies = Array.from({ length: COMPANIES }, () => testIdentity(newUuid()));
  // Far from the next firing, so that nothing fires while they are deployed.
  const trigger = { type: "schedule", cron: "0 0 29 2 *" };
  const deployOne = (number: number): Promise<string> =>
    harness.deploy([mapping("a", "{{trigger.scheduledAt}}"), mapping("b", number)], {
      trigger,
      identity: companies[number % 2 === 0 ? 0 : number % COMPANIES] ?? harness.identity,
    });
  const numbers = Array.from({ length: SCHEDULES }, (_, number) => number).values();
  const deploySome = async (): Promise<void> => {
    for (const number of numbers) await deployOne(number);
  };
  await Promise.all(Array.from({ length: 16 }, deploySome));
  await harness.close();
}
