import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { z } from "zod";
import { createActiveWorkflow, getRequest } from "../rest.ts";
import type { Figure, Scenario, Surroundings } from "../scenario.ts";

const PAGE = 50;
const SETTLE_TIMEOUT_MS = 60_000;
const settledRow = z.object({ settled: z.boolean() });
const TARGET_MS = 10;

/** The searches, from the name of one workflow to the names of nearly all. */
const LISTS = [
  ["first page", ""],
  ["active ones", "&status=active"],
  ["search, a few names", "&search=zebra"],
  ["search, a few names, active", "&search=ZEBRA&status=active"],
  ["search, 2 % of the names, paused", "&search=emea&status=paused"],
  ["search, 5 % of the names, active", "&search=invoice&status=active"],
  ["search, no name, active", "&search=nowhere&status=active"],
  ["search, two letters of no name", "&search=qx"],
] as const;

export const listWorkflows: Scenario = {
  id: "m",
  title: "Lists of workflows",
  method:
    "GET /workflows of a company with very many workflows (and as many of other companies), " +
    `${PAGE} a page over one connection: by status and by parts of the name.`,
  async measure(surroundings) {
    const { system, sizes } = surroundings;
    const workflowId = await createActiveWorkflow(system, "Listed");
    await storeCopies(system.databaseUrl, workflowId, sizes.storedWorkflows);
    const figures: Figure[] = [];
    for (const [name, query] of LISTS) {
      figures.push({
        name: `${name}, p50`,
        value: await readPage(surroundings, `/workflows?limit=${PAGE}${query}`),
        unit: "ms",
        // A search without three letters or digits in a row has no index.
        ...(query === "&search=qx" ? {} : { target: { atMost: TARGET_MS } }),
      });
    }
    return { figures, rounds: [] };
  },
};

async function readPage({ system, load, sizes }: Surroundings, path: string): Promise<number> {
  const job = { model: "closed", request: getRequest(system, path), connections: 1 } as const;
  await load({ ...job, stop: { afterMs: sizes.warmUpMs } });
  return (await load({ ...job, stop: { afterMs: sizes.roundMs } })).p50Ms;
}

/**
 * Stores copies of a workflow for its company, and the same number for a hundred other companies.
 */
async function storeCopies(databaseUrl: string, workflowId: string, count: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, application_name: "bench" });
  await client.connect();
  try {
    await client.query(
      `insert into workflows.workflows (
         id, company_id, name, status, trigger, steps, content_bytes, created_at
       )
       select gen_random_uuid(),
         case when n % 2 = 0 then company_id
           else lpad(to_hex(n % 100), 32, '0')::uuid end,
         noun || ' ' || lpad(n::text, 7, '0')
           || case when region = 0 then ' EMEA' else '' end
           || case when n % 25000 = 0 then ' Zebra' else '' end,
         case place when 0 then 'archived' when 1 then 'paused' when 2 then 'draft'
           else 'active' end,
         trigger, steps, content_bytes, created_at - n * interval '1 second'
       from workflows.workflows, generate_series(1, 2 * $2::int) as n,
         -- Independent of each other and the same in every run.
         lateral (select ('x' || substr(md5(n::text), 1, 6))::bit(24)::int as chance) as die,
         lateral (
           select chance / 7 % 50 as region, chance / 350 % 10 as place,
             (array['Invoice', 'Order', 'Customer', 'Payment', 'Sync', 'Daily report',
               'Weekly report', 'Slack', 'E-mail', 'Approval', 'Refund', 'Stock', 'Lead',
               'Contract', 'Onboarding', 'Ticket', 'Alert', 'Import', 'Export',
               'Reminder'])[1 + chance / 3500 % 20] as noun
         ) as thrown
       where id = $1`,
      [workflowId, count],
    );
    await settle(client);
  } finally {
    await client.end();
  }
}

/**
 * Brings the table into its later state: index-only scans need to know which pages everybody can see, and a vacuum
 * does not tell while another transaction is older than the pages.
 */
async function settle(client: Client): Promise<void> {
  for (const deadline = Date.now() + SETTLE_TIMEOUT_MS; ; await delay(500)) {
    await client.query("vacuum analyze workflows.workflows");
    const { rows } = await client.query(
      "select relallvisible >= 0.9 * relpages as settled from pg_class where oid = 'workflows.workflows'::regclass",
    );
    if (settledRow.parse(rows[0]).settled) return;
    if (Date.now() > deadline) throw new Error("The table has not come to rest.");
  }
}
