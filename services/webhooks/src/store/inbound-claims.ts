import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { MessageKey } from "./insert-inbound-events.ts";

const claimRow = z.object({ eventIds: z.array(z.string()) });
const outcomeRow = z.object({ id: z.string(), isSettled: z.boolean(), runCount: z.number() });

/** The status of an event and its runs. */
export type EventOutcome = z.infer<typeof outcomeRow>;

/** The events that were stored when a key first came; none when the key is free. */
export async function listClaimed(
  queryable: Queryable,
  { provider, companyId, key }: MessageKey,
): Promise<readonly string[]> {
  const row = await queryable.maybeOne(sql.prepared("inbound_claim", claimRow)`
    select event_ids as "eventIds" from webhooks.inbound_event_keys
    where provider = ${provider} and company_id = ${companyId} and key = ${key}
  `);
  return row?.eventIds ?? [];
}

/** The outcomes of events of all companies. Events that are no longer kept are missing. */
export async function listOutcomes(
  queryable: Queryable,
  ids: readonly string[],
): Promise<readonly EventOutcome[]> {
  return queryable.any(sql.prepared("inbound_outcomes", outcomeRow)`
    select id, due_at is null as "isSettled", json_array_length(started) as "runCount"
    from webhooks.inbound_events
    where id = any(${sql.array([...ids], "text")})
  `);
}
