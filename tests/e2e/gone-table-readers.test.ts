import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { Registry } from "prom-client";
import { z } from "zod";
import { makeTable } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const nothing = z.object({});
const registry = new Registry();
let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem({ metricsRegistry: registry });
});
afterAll(() => system.stop());

/** Keeps everybody from reading rows of tables until the result is called. */
async function lockRows(): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = system.database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`lock table tables.rows in access exclusive mode`);
    locked.resolve();
    await released.promise;
  });
  await Promise.race([locked.promise, holding]);
  return async () => {
    released.resolve();
    await holding;
  };
}

async function countWaiting(): Promise<number> {
  return system.database.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*)::integer as count
    from pg_stat_activity
    where application_name = 'workflow-tables' and datname = current_database()
      and wait_event_type = 'Lock'
  `);
}

/** How many questions the tables service has given up because their callers had gone. */
async function countLeft(): Promise<number> {
  const text = await registry.metrics();
  return Number(/tables_questions_ended_total\{reason="caller_left"\} (\d+)/.exec(text)?.[1] ?? 0);
}

/** How many calls the tables service has seen cancelled. */
async function countCancelled(): Promise<number> {
  const series = (await registry.metrics())
    .split("\n")
    .filter((line) => line.startsWith("rpc_request_duration_seconds_count{"))
    .filter((line) => line.includes("tables.v1.RowsService") && line.includes('code="CANCELLED"'));
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

it("a client that closes its connection ends the question that it asked a table", async () => {
  const asked = [
    ["rows/query", { sort: "name" }],
    ["aggregate", { measures: [{ fn: "count", column: "name" }] }],
    ["columns/name/values/query", {}],
  ] as const;
  const tables = await Promise.all(
    asked.map(() => makeTable(system, system.acme.key, { rows: [{ name: "one" }] })),
  );
  const unlock = await lockRows();
  const leaving = new AbortController();
  const ended = Promise.allSettled(
    asked.map(([route, body], place) =>
      fetch(`${system.origin}/api/v1/tables/${tables[place]?.id}/${route}`, {
        method: "POST",
        signal: leaving.signal,
        headers: { "x-api-key": system.acme.key, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    ),
  );
  await waitFor(async () => (await countWaiting()) === asked.length);
  leaving.abort();
  expect((await ended).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
  // Before that a question may still be answered.
  await waitFor(async () => (await countCancelled()) === asked.length);
  await unlock();
  await waitFor(async () => (await countLeft()) === asked.length);
});
