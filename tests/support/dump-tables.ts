import { sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";

const table = z.object({ schema: z.string(), name: z.string() });
const rows = z.object({ rows: z.string().nullable() });
const pending = z.object({ pending: z.boolean() });

const SCHEMAS = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"];
/** Tables of tasks and of events under way, which change whatever callers do. */
const MOVING = [
  "tasks",
  "outbox",
  "wake_ups",
  "scheduler_presence",
  "given_up_runs",
  "lanes",
  "left_deliveries",
  "comparisons",
];
/** Columns that are written in the background, some time after a request. */
const LATE_COLUMNS = ["last_used_at"];

/**
 * Every row of all services by table, as text that differs when any row differs. Waits for the events of earlier
 * requests in the audit log, and for their work on webhooks.
 */
export async function dumpTables(database: Database): Promise<Record<string, string>> {
  const tables = await database.any(sql.type(table)`
    select table_schema as schema, table_name as name
    from information_schema.tables
    where table_schema = any(${sql.array(SCHEMAS, "text")})
      and table_type = 'BASE TABLE'
    order by table_schema, table_name
  `);
  const outboxes = tables.filter(({ name }) => name === "outbox");
  await waitFor(
    async () => {
      for (const { schema } of outboxes) {
        const outbox = sql.identifier([schema, "outbox"]);
        const found = await database.one(sql.type(pending)`
          select exists (select from ${outbox} where published_at is null) as pending
        `);
        if (found.pending) return false;
      }
      return true;
    },
    { what: "all outboxes to be published" },
  );
  await waitFor(async () => !(await hasWebhooksUnderWay(database)), {
    what: "events that came in and deliveries to come to an end",
  });
  const dump: Record<string, string> = {};
  for (const { schema, name } of tables.filter((each) => !MOVING.includes(each.name))) {
    const content = await database.one(sql.type(rows)`
      select string_agg(r.row, E'\n' order by r.row) as rows
      from (
        select (to_jsonb(t) - ${sql.array(LATE_COLUMNS, "text")})::text as row
        from ${sql.identifier([schema, name])} as t
      ) as r
    `);
    dump[`${schema}.${name}`] = content.rows ?? "";
  }
  return dump;
}

/**
 * Whether an inbound event waits for its runs, an attempt is due, or a deleted endpoint has deliveries left.
 * Endpoints that get runs of the test never come to an end: see `makeEndpoint`.
 */
async function hasWebhooksUnderWay(database: Database): Promise<boolean> {
  const found = await database.one(sql.type(pending)`
    select exists (
        select from webhooks.inbound_events where status in ('received', 'processing')
      ) or exists (
        select from webhooks.deliveries as delivery
        left join webhooks.endpoints as endpoint on endpoint.id = delivery.endpoint_id
        where delivery.status = 'pending' or endpoint.id is null
      ) as pending
  `);
  return found.pending;
}
