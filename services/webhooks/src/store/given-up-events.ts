import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const givenUpRow = z.object({
  id: z.string(),
  companyId: z.string(),
  type: z.string(),
  attempts: z.number(),
  error: z.string().nullable(),
  failedAt: z.date(),
});
const redrivenRow = givenUpRow.pick({ id: true, companyId: true, type: true });

/** An event whose deliveries could not be made, as an operator sees it. */
export type GivenUpEvent = z.output<typeof givenUpRow>;

/** Events whose deliveries could not be made, of all companies, the newest first. */
export async function listGivenUpEvents(
  queryable: Queryable,
  limit: number,
): Promise<readonly GivenUpEvent[]> {
  return queryable.any(sql.type(givenUpRow)`
    select id, company_id as "companyId", type, attempts, error, failed_at as "failedAt"
    from webhooks.outbound_events
    where failed_at is not null
    order by id desc
    limit ${limit}
  `);
}

/**
 * Resets events so that their deliveries are tried again, with as many tries as a new event: one event,
 * or the oldest up to a limit.
 */
export async function redriveGivenUpEvents(
  queryable: Queryable,
  which: { id: string } | { limit: number },
): Promise<readonly Pick<GivenUpEvent, "id" | "companyId" | "type">[]> {
  const chosen =
    "id" in which
      ? sql.fragment`select ${which.id}::text`
      : sql.fragment`
          select id from webhooks.outbound_events
          where failed_at is not null
          order by id
          limit ${which.limit}
        `;
  return queryable.any(sql.type(redrivenRow)`
    update webhooks.outbound_events
    set failed_at = null, due_at = now(), attempts = 0
    where id in (${chosen}) and failed_at is not null
    returning id, company_id as "companyId", type
  `);
}
