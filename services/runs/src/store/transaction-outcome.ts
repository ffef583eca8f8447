import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";

const runningRow = z.object({ running: z.boolean() });
const runIdRow = z.object({ id: z.string() });

/**
 * Which of these runs were last written by a transaction whose answer never came, by the id that it
 * had (`pg_current_xact_id`). Those of a transaction that was not committed are none; nor is a run
 * that somebody else has written since, who must have taken its lease away.
 *
 * The rows tell, not `pg_xact_status`: a Postgres that crashed gives ids away a second time whose
 * transactions left no trace on its disk, and would say of ours what became of the other.
 *
 * @throws AppError UNAVAILABLE while the server has not noticed that its client is gone
 */
export async function listWrittenBy(
  queryable: Queryable,
  transactionId: string,
  runIds: readonly string[],
): Promise<readonly string[]> {
  // First this, then the rows: a transaction ends after what it wrote has become visible.
  const { running } = await queryable.one(sql.type(runningRow)`
    select exists (
      select from pg_locks
      where locktype = 'transactionid' and transactionid = ${transactionId}::xid8::xid and granted
    ) as running
  `);
  if (running) {
    throw new AppError("UNAVAILABLE", "The transaction has not ended.", { retryAfterMs: 100 });
  }
  const rows = await queryable.any(sql.type(runIdRow)`
    select id from runs.runs
    where id = any(${sql.array([...runIds], "text")}) and xmin = ${transactionId}::xid8::xid
  `);
  return rows.map((row) => row.id);
}
