import { setTimeout as sleep } from "node:timers/promises";
import { listen, migrate, openDatabase, sql } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { z } from "zod";

/*
 * The process whose link to Postgres is cut: opens a session of each kind that the system has, and stays. The
 * arguments are the server's address, the number of an advisory lock for which statements wait, and a folder of
 * migrations.
 */

const [connectionUri = "", gate = "", directory = ""] = process.argv.slice(2);
/** No limit but that of the link may end a session. */
const OTHER_LIMITS_MS = 3_600_000;
const USE_MS = 2_000;
const nothing = z.object({});

await Promise.all([
  idle(),
  changing("in transaction", 1, () => new Promise(() => {})),
  // More than the buffers of a connection take.
  changing("sending", 2, (transaction) =>
    transaction.any(sql.type(z.object({ text: z.string() }))`
      with gate as materialized (select pg_advisory_xact_lock_shared(${gate}::bigint))
      select repeat('x', 1024 * 1024) as text from gate, generate_series(1, 64)
    `),
  ),
  listen({ connectionUri, channels: ["any"], onNotification: () => {}, onReconnect: () => {} }),
  migrate({
    connectionUri,
    services: [{ schema: "vanishing", role: "vanishing", directory }],
  }),
]);

async function idle(): Promise<void> {
  const database = await open("idle");
  // A pool closes a connection that is not used.
  for (;;) {
    await database.any(sql.type(nothing)`select`);
    await sleep(USE_MS);
  }
}

/** Changes a row, and goes on in the same transaction. */
async function changing(
  name: string,
  row: number,
  goOn: (transaction: Transaction) => Promise<unknown>,
): Promise<void> {
  const database = await open(name);
  await database.transaction(async (transaction) => {
    await transaction.any(
      sql.type(nothing)`update held set changes = changes + 1 where id = ${row}`,
    );
    await goOn(transaction);
  });
}

function open(applicationName: string): Promise<Database> {
  return openDatabase({
    connectionUri,
    applicationName,
    statementTimeoutMs: OTHER_LIMITS_MS,
    idleInTransactionTimeoutMs: OTHER_LIMITS_MS,
  });
}
