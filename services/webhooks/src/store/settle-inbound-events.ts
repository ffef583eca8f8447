import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});

/** A run that an event has started. */
export interface StartedRun {
  workflowId: string;
  runId: string;
}

/** The outcome of an event. */
export type Settlement =
  | { id: string; status: "processed"; started: readonly StartedRun[] }
  | { id: string; status: "ignored"; keepsPayload: boolean }
  | { id: string; status: "failed"; error: string }
  /** The event is to be tried again; `countsAsTry` when the try is one of those that are allowed. */
  | { id: string; status: "received"; error: string; retryInMs: number; countsAsTry: boolean };

/** Writes the outcomes of events. A final status is written once: later calls change nothing. */
export async function settleEvents(
  queryable: Queryable,
  settlements: readonly Settlement[],
): Promise<void> {
  await queryable.query(sql.prepared("inbound_settle", nothing)`
    update webhooks.inbound_events as event
    set status = settled.status,
      started = coalesce(settled.started, event.started),
      error = settled.error,
      attempts = event.attempts - coalesce(settled.uncounted, 0),
      due_at = now() + make_interval(secs => settled.retry_in_seconds),
      payload = case when settled.drops_payload then null else event.payload end,
      trigger_data = case when settled.drops_payload then null else event.trigger_data end
    from json_to_recordset(${JSON.stringify(settlements.map(toDocument))}::json) as settled (
      id text, status text, started json, error text, uncounted integer,
      retry_in_seconds double precision, drops_payload boolean
    )
    where event.id = settled.id and event.due_at is not null
  `);
}

function toDocument(settlement: Settlement) {
  const { id, status } = settlement;
  switch (settlement.status) {
    case "processed":
      return { id, status, started: settlement.started };
    case "ignored":
      return { id, status, drops_payload: !settlement.keepsPayload };
    case "failed":
      return { id, status, error: settlement.error };
    case "received":
      return {
        id,
        status,
        error: settlement.error,
        uncounted: settlement.countsAsTry ? 0 : 1,
        retry_in_seconds: settlement.retryInMs / 1000,
      };
  }
}
