// What runs, step results, deliveries, rows and audit events take up in Postgres, how much write-ahead log they
// cause and what processor time they cost, on a system as `npm start` runs it (docs/ops/sizing.md).
//
//   node bench/stored-bytes.ts [--count 5000] [--write]
//   --write leaves a report in results/
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createScope } from "@workflow/async";
import { waitFor } from "@workflow/testkit";
import { Client } from "pg";
import { z } from "zod";
import { makeEndpoint } from "./endpoints.ts";
import { readCircumstances } from "./machine.ts";
import { readMeter } from "./postgres-meter.ts";
import type { Meter } from "./postgres-meter.ts";
import type { LoadRequest } from "./load-protocol.ts";
import {
  createActiveWorkflow,
  fetchText,
  getWorkflowRequest,
  importTable,
  postRequest,
  runRequest,
  transform,
} from "./rest.ts";
import { startDeliveryReceiver } from "./start-delivery-receiver.ts";
import { startSystem } from "./system.ts";
import type { System } from "./system.ts";
import { makeRows } from "./table-rows.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "5000" },
    write: { type: "boolean", default: false },
  },
});
const COUNT = Number(values.count);
const CALLERS = 16;
const MORE_STEPS = 13;
const ROWS_EACH = 10;
const QUIET_MS = 600_000;

/** A thing that is stored many times, and the way to store it. */
interface Phase {
  name: string;
  count: number;
  store: () => Promise<void>;
}

/** The cost of one thing. */
interface Cost {
  name: string;
  count: number;
  /**
   * Bytes of tables with indexes and out-of-line values; tables below one byte for each thing are left out.
   */
  tables: ReadonlyMap<string, number>;
  walBytes: number;
  nodeMs: number;
  postgresMs: number;
}

async function measure(
  { name, count, store }: Phase,
  read: () => Promise<Meter>,
  settle: () => Promise<void>,
): Promise<Cost> {
  const before = await read();
  await store();
  await settle();
  const after = await read();
  const tables = [...after.tables].flatMap(([table, bytes]): [string, number][] => {
    const each = (bytes - (before.tables.get(table) ?? 0)) / count;
    return each >= 1 ? [[table, each]] : [];
  });
  return {
    name,
    count,
    tables: new Map(tables.sort(([, one], [, other]) => other - one)),
    walBytes: (after.walBytes - before.walBytes) / count,
    nodeMs: (after.nodeMs - before.nodeMs) / count,
    postgresMs: (after.postgresMs - before.postgresMs) / count,
  };
}

/** Waits until nothing is under way. */
async function settleIn(client: Client): Promise<void> {
  const left = z.object({ left: z.coerce.number() });
  await waitFor(
    async () => {
      const { rows } = await client.query(`
        select (select count(*) from runs.tasks) + (select count(*) from runs.outbox)
          + (select count(*) from workflows.outbox)
          + (select count(*) from webhooks.outbound_events where due_at is not null)
          + (select count(*) from webhooks.deliveries where status = 'pending') as left
      `);
      return left.parse(rows[0]).left === 0;
    },
    { timeoutMs: QUIET_MS, intervalMs: 500, what: "everything to be done" },
  );
  await client.query("vacuum analyze");
}

const startRuns = (system: System, workflowId: string): Promise<void> =>
  repeat(runRequest(system, workflowId, "async"));

async function repeat(request: LoadRequest): Promise<void> {
  let left = COUNT;
  const call = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await fetchText(request);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
}

function steps(count: number) {
  return Array.from({ length: count }, (_, n) =>
    transform(`step${n}`, { id: "{{input.orderId}}", text: "Dear {{input.customer.name}}" }),
  );
}

function report(costs: readonly Cost[]): string {
  const lines = costs.map(({ name, count, tables, walBytes, nodeMs, postgresMs }) => {
    const sum = [...tables.values()].reduce((total, bytes) => total + bytes, 0);
    const parts = [...tables].map(([table, bytes]) => `${table} ${bytes.toFixed(0)}`).join(", ");
    const cpu = `${nodeMs.toFixed(2)} | ${postgresMs.toFixed(2)}`;
    return `| ${name} | ${count} | ${sum.toFixed(0)} | ${parts} | ${walBytes.toFixed(0)} | ${cpu} |`;
  });
  return [
    "| what | count | bytes each | of which | WAL bytes each | Node ms each | Postgres ms each |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
}

const scope = createScope();
try {
  const circumstances = await readCircumstances();
  const system = await startSystem(scope);
  const client = new Client({ connectionString: system.databaseUrl });
  await client.connect();
  scope.defer(() => client.end());
  const read = () => readMeter(client, system.pid);
  const settle = () => settleIn(client);
  const three = await createActiveWorkflow(system, "three");
  const many = await createActiveWorkflow(system, "many", steps(MORE_STEPS));
  const few = await createActiveWorkflow(system, "few", steps(3));
  // Warms up before anything counts: compiled code, plans, the pages of each table.
  await startRuns(system, three);
  await settle();
  const phases: Phase[] = [
    { name: "run of 3 steps", count: COUNT, store: () => startRuns(system, three) },
    { name: "run of 3 small steps", count: COUNT, store: () => startRuns(system, few) },
    {
      name: `run of ${MORE_STEPS} small steps`,
      count: COUNT,
      store: () => startRuns(system, many),
    },
    {
      name: "read of a workflow",
      count: COUNT,
      store: () => repeat(getWorkflowRequest(system, three)),
    },
    {
      // A dashboard is a row of its own, so that the rest is the event.
      name: "dashboard, with its event in the audit log",
      count: COUNT / 10,
      async store() {
        for (let n = 0; n < COUNT / 10; n += 1) {
          await fetchText(postRequest(system, "/dashboards", { name: `Dashboard ${n}` }));
        }
      },
    },
    {
      name: "row of 8 columns, imported",
      count: COUNT * ROWS_EACH,
      async store() {
        await importTable(system, "rows", makeRows(COUNT * ROWS_EACH));
      },
    },
  ];
  const costs: Cost[] = [];
  for (const phase of phases) costs.push(await measure(phase, read, settle));
  const receiver = await startDeliveryReceiver(scope);
  await makeEndpoint(system, "ends", receiver.urlOf("ends"));
  const delivered = async () => {
    await startRuns(system, three);
    await receiver.collect("ends", COUNT);
  };
  const delivering = { name: "run of 3 steps with a delivery", count: COUNT, store: delivered };
  costs.push(await measure(delivering, read, settle));
  const { commit, cpu, cores, node, loadBefore, startedAt } = circumstances;
  const text = [
    `# Stored bytes, ${startedAt.slice(0, 10)}, commit ${commit}`,
    "",
    `\`node bench/stored-bytes.ts --count ${COUNT}\`, ${cpu}, ${cores} cores that others may have used as well (load`,
    `average before: ${loadBefore.map((load) => load.toFixed(1)).join(", ")}), Node ${node}, embedded Postgres, durable.`,
    "",
    report(costs),
    "",
  ].join("\n");
  process.stdout.write(text);
  if (values.write) {
    const folder = join(import.meta.dirname, "results");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${startedAt.slice(0, 10)}-${commit}-stored-bytes.md`), text);
  }
} finally {
  await scope.close();
}
