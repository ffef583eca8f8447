import type { ConsumerInfo, JetStreamManager } from "nats";
import { consumerConfig } from "./nats-config.ts";
import { jetStreamErrorCode } from "./nats-errors.ts";

const CONSUMER_NOT_FOUND = 10014;

/**
 * Creates the durable consumer if it is missing. Returns null then, else the existing one's
 * configuration.
 */
export async function makeConsumer(
  manager: JetStreamManager,
  stream: string,
  consumer: string,
  ackWaitMs: number,
): Promise<ConsumerInfo | null> {
  try {
    return await manager.consumers.info(stream, consumer);
  } catch (error) {
    if (jetStreamErrorCode(error) !== CONSUMER_NOT_FOUND) throw error;
    await manager.consumers.add(stream, consumerConfig(consumer, ackWaitMs));
    return null;
  }
}
