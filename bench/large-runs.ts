import { createScope } from "@workflow/async";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { z } from "zod";
import { cpuTimeMs } from "./cpu-time.ts";
import { residentMb } from "./memory.ts";
import { medianOf } from "./statistics.ts";
import { startSystem } from "./system.ts";
import type { System } from "./system.ts";

/*
 * The cost of reading runs of the greatest allowed size, and its effect on others. Run this with `node
 * bench/large-runs.ts`; it prints one line for each case.
 */

const nothing = z.object({});
const envelope = z.looseObject({ data: z.looseObject({}) });
const created = z.looseObject({ id: z.string() });
const started = z.looseObject({ runId: z.string() });

interface LargeRun {
  name: string;
  /** The number of step results. */
  steps: number;
  /** The characters of each output; inputs have a few dozen. */
  outputChars: number;
}

const RUNS: readonly LargeRun[] = [
  { name: "3 results of 100 B", steps: 3, outputChars: 100 },
  { name: "50,000 results of 100 B", steps: 50_000, outputChars: 100 },
  { name: "300 results of 200 KB", steps: 300, outputChars: 200_000 },
  { name: "20 results of 3 MB", steps: 20, outputChars: 3_000_000 },
];
const READINGS = 7;
const AT_ONCE = 50;
const CANARY_MS = 20;

async function main(): Promise<void> {
  await using scope = createScope();
  const only = process.argv.find((each) => each.startsWith("--only="))?.split("=")[1] ?? "";
  const profile = process.argv.find((each) => each.startsWith("--cpu-prof-dir="));
  const system = await startSystem(scope, { cpuProfileDir: profile?.split("=")[1] });
  const database = await openDatabase({
    connectionUri: system.databaseUrl,
    applicationName: "bench",
    maxConnections: 1,
    statementTimeoutMs: 600_000,
  });
  scope.defer(() => database.end());
  const template = await runOnce(system);
  const ids = new Map<string, string>();
  for (const run of RUNS.filter(({ name }) => name.includes(only)))
    ids.set(run.name, await seed(database, template, run));
  for (const [name, id] of ids) {
    await readRepeatedly(system, `GET /runs/{id}, ${name}`, `/runs/${id}`);
    await readRepeatedly(system, `GET /runs/{id}/logs, ${name}`, `/runs/${id}/logs`);
  }
  for (const [name, id] of ids) {
    await readRepeatedly(system, `GET /runs/{id}/steps, ${name}`, `/runs/${id}/steps?limit=100`);
    await readRepeatedly(system, `GET /runs/{id}/steps/{path}, ${name}`, `/runs/${id}/steps/s[1]`);
  }
  for (const [name, id] of ids) await readAtOnce(system, name, `/runs/${id}`);
}

async function runOnce(system: System): Promise<string> {
  const steps = [{ id: "s", type: "transform", name: "s", config: { mapping: 1 } }];
  const body = { name: "Large", trigger: { type: "api" }, steps };
  const { id } = created.parse(await post(system, "/workflows", body));
  await post(system, `/workflows/${id}/activate`, {});
  const run = await post(system, `/workflows/${id}/run`, { input: {}, mode: "sync" });
  return started.parse(run).runId;
}

async function post(system: System, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(system.baseUrl + path, {
    method: "POST",
    headers: { "x-api-key": system.apiKey, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  return envelope.parse(answer).data;
}

/** Stores a run as an engine does; the text hardly compresses, like most documents. */
async function seed(database: Database, template: string, run: LargeRun): Promise<string> {
  const id = `${template.slice(0, -6)}${String(RUNS.indexOf(run)).padStart(6, "0")}`;
  await database.query(sql.type(nothing)`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type, input,
      output, created_at, started_at, completed_at
    )
    select ${id}, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type,
      input, output, created_at, started_at, completed_at
    from runs.runs where id = ${template}
  `);
  await database.query(sql.type(nothing)`
    insert into runs.step_results (
      run_id, path, seq, step_id, type, status, started_at, completed_at, input, output
    )
    select ${id}, 's[' || number || ']', number, 's', 'transform', 'success', now(), now(),
      json_build_object('mapping', number),
      to_json(left((
        select string_agg(md5(number || '/' || part), '') || number
        from generate_series(1, ${run.outputChars} / 32 + 1) as part
      ), ${run.outputChars}))
    from generate_series(1, ${run.steps}) as number
  `);
  await database.query(sql.type(nothing)`
    update runs.step_results
    set input_bytes = octet_length(input::text), output_bytes = octet_length(output::text)
    where run_id = ${id}
  `);
  await database.query(sql.type(nothing)`vacuum full analyze runs.step_results`);
  return id;
}

interface Reading {
  ms: number;
  status: number;
  bytes: number;
}

async function read({ baseUrl, apiKey }: System, path: string): Promise<Reading> {
  const start = performance.now();
  const response = await fetch(baseUrl + path, { headers: { "x-api-key": apiKey } });
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += chunk.length;
  return { ms: performance.now() - start, status: response.status, bytes };
}

async function readRepeatedly(system: System, name: string, path: string): Promise<void> {
  const readings: Reading[] = [];
  const canary = watchCanary(system);
  const cpuBefore = cpuTimeMs(system.pid);
  for (let round = 0; round < READINGS; round += 1) readings.push(await read(system, path));
  const { status, bytes } = readings.at(-1) ?? { status: 0, bytes: 0 };
  const median = medianOf(readings, ({ ms }) => ms);
  const cpuMs = (cpuTimeMs(system.pid) - cpuBefore) / READINGS;
  const worst = await canary.stop();
  console.log(
    `${name}: ${status}, ${(bytes / 1e6).toFixed(2)} MB, p50 ${median.toFixed(1)} ms, processor ${cpuMs.toFixed(0)} ms; canary at worst ${worst.toFixed(0)} ms`,
  );
}

async function readAtOnce(system: System, name: string, path: string): Promise<void> {
  const before = residentMb(system.pid);
  let peak = before;
  const timer = setInterval(() => (peak = Math.max(peak, residentMb(system.pid))), 20);
  const canary = watchCanary(system);
  const start = performance.now();
  const readings = await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      read(system, path).catch((): Reading => ({ ms: 0, status: 0, bytes: 0 })),
    ),
  );
  const wallMs = performance.now() - start;
  clearInterval(timer);
  const worst = await canary.stop();
  const statuses = Map.groupBy(readings, ({ status }) => status);
  const outcome = [...statuses].map(([status, some]) => `${some.length} × ${status}`).join(", ");
  console.log(
    `${AT_ONCE} at once, ${name}: ${outcome} in ${wallMs.toFixed(0)} ms; resident ${before.toFixed(0)} → ${peak.toFixed(0)} MB; canary at worst ${worst.toFixed(0)} ms`,
  );
}

/** Repeats a small request of another company. */
function watchCanary(system: System): { stop(): Promise<number> } {
  let worst = 0;
  let running = true;
  const watching = (async () => {
    while (running) {
      const { ms } = await read(system, "/runs?limit=1");
      worst = Math.max(worst, ms);
      await new Promise((resolve) => setTimeout(resolve, CANARY_MS));
    }
  })();
  return {
    async stop() {
      running = false;
      await watching;
      return worst;
    },
  };
}

await main();
