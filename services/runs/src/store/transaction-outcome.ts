import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";

const outcomeRow = z.object({
  outcome: z.enum(["committed", "aborted", "in progress"]).nullable(),
});

/**
 * Whether a transaction was committed whose answer never came, by the id it had
 * (`pg_current_xact_id`).
 *
 * @throws AppError UNAVAILABLE while the server has not noticed that its client is gone
 */
export async function wasCommitted(queryable: Queryable, transactionId: string): Promise<boolean> {
  const { outcome } = await queryable.one(sql.type(outcomeRow)`
    select pg_xact_status(${transactionId}::xid8) as outcome
  `);
  if (outcome === "in progress") {
    throw new AppError("UNAVAILABLE", "The transaction has not ended.", { retryAfterMs: 100 });
  }
  return outcome === "committed";
}
