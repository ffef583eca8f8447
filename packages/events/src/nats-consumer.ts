import type { JetStreamManager } from "nats";
import { AckPolicy, DeliverPolicy, nanos, ReplayPolicy } from "nats";
import { jetStreamErrorCode } from "./nats-errors.ts";

/** How long the server waits for an event's acknowledgement before it hands it out again. */
export const ACK_WAIT_MS = 30_000;

const CONSUMER_NOT_FOUND = 10014;
/** Over all processes that share the consumer's name. */
const ACK_PENDING_MAX = 1_000;

/** Makes the durable consumer if it is missing; true when it was. */
export async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  consumer: string,
  ackWaitMs: number,
): Promise<boolean> {
  if (await consumerExists(manager, stream, consumer)) return false;
  // Types are sorted out on arrival rather than by a filter of the server: 2.9 has only one a
  // consumer, and so a consumer never needs to be changed.
  await manager.consumers.add(stream, {
    durable_name: consumer,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    deliver_policy: DeliverPolicy.All,
    replay_policy: ReplayPolicy.Instant,
    max_deliver: -1,
    max_ack_pending: ACK_PENDING_MAX,
  });
  return true;
}

async function consumerExists(
  manager: JetStreamManager,
  stream: string,
  consumer: string,
): Promise<boolean> {
  try {
    await manager.consumers.info(stream, consumer);
    return true;
  } catch (error) {
    if (jetStreamErrorCode(error) === CONSUMER_NOT_FOUND) return false;
    throw error;
  }
}
