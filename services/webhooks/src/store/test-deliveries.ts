import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { z } from "zod";
import type { DeliveryKey } from "./endpoint-deliveries.ts";

const nothing = z.object({});

/** A test with the outcome of its one attempt. */
export interface TestDelivery extends DeliveryKey {
  eventId: string;
  eventType: string;
  occurredAt: Date;
  body: string;
  isSuccess: boolean;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  /** JSON text as of `deliveries.attempts`. */
  attemptsJson: string;
}

/** Records a test after its attempt. It is never attempted again. */
export async function insertTestDelivery(
  transaction: Transaction,
  test: TestDelivery,
): Promise<void> {
  await transaction.query(sql.prepared("test_event_insert", nothing)`
    insert into webhooks.outbound_events (
      id, company_id, type, occurred_at, envelope, body, fanned_out_at
    )
    values (
      ${test.eventId}, ${test.companyId}, ${test.eventType},
      ${test.occurredAt.toISOString()}::timestamptz, '{"test":true}', ${test.body}, now()
    )
  `);
  await transaction.query(sql.prepared("test_delivery_insert", nothing)`
    insert into webhooks.deliveries (
      id, endpoint_id, company_id, event_id, event_type, is_test, status, attempt_count, max_attempts,
      body_bytes, last_status_code, last_error, duration_ms, attempts, delivered_at
    )
    values (
      ${test.deliveryId}, ${test.endpointId}, ${test.companyId}, ${test.eventId}, ${test.eventType},
      true, case when ${test.isSuccess} then 'succeeded' else 'failed' end, 1, 1,
      ${Buffer.byteLength(test.body)}::integer, ${test.statusCode}::integer, ${test.error},
      ${test.durationMs}::integer, ${test.attemptsJson}::json,
      case when ${test.isSuccess} then now() end
    )
  `);
}
