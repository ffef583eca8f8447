import type { JetStreamManager } from "nats";
import { DiscardPolicy, nanos, RetentionPolicy, StorageType } from "nats";
import { jetStreamErrorCode } from "./nats-errors.ts";
import type { NatsSession } from "./nats-link.ts";

export interface NatsStreamOptions {
  replicas: number;
  maxAgeMs: number;
}

/** A week: how long a consumer may be away without losing anything. */
export const STREAM_MAX_AGE_MS = 7 * 24 * 60 * 60 * 1_000;

const STREAM_NOT_FOUND = 10059;
const STREAM_NAME_IN_USE = 10058;
/** Covers the retries of a batch; what comes later is left to the consumers' idempotency. */
const DUPLICATE_WINDOW_MS = 2 * 60 * 1_000;

/** Makes the stream if it is missing; looked up once a session. */
export async function ensureStream(
  session: NatsSession,
  name: string,
  options: NatsStreamOptions,
): Promise<void> {
  if (session.streams.has(name)) return;
  await makeStream(await session.connection.jetstreamManager(), name, options);
  session.streams.add(name);
}

/** Makes the stream if it is missing; true when it was. */
export async function makeStream(
  manager: JetStreamManager,
  name: string,
  options: NatsStreamOptions,
): Promise<boolean> {
  if (await streamExists(manager, name)) return false;
  await addStream(manager, name, options);
  return true;
}

async function streamExists(manager: JetStreamManager, name: string): Promise<boolean> {
  try {
    await manager.streams.info(name);
    return true;
  } catch (error) {
    if (jetStreamErrorCode(error) === STREAM_NOT_FOUND) return false;
    throw error;
  }
}

async function addStream(
  manager: JetStreamManager,
  name: string,
  { replicas, maxAgeMs }: NatsStreamOptions,
): Promise<void> {
  try {
    await manager.streams.add({
      name,
      subjects: [`${name}.>`],
      storage: StorageType.File,
      // Not by interest: an event must wait also for a consumer that is not registered yet.
      retention: RetentionPolicy.Limits,
      // A full stream refuses new events, which then wait in the outbox; it never drops old ones.
      discard: DiscardPolicy.New,
      max_age: nanos(maxAgeMs),
      duplicate_window: nanos(Math.min(DUPLICATE_WINDOW_MS, maxAgeMs)),
      num_replicas: replicas,
    });
  } catch (error) {
    // Another process was faster.
    if (jetStreamErrorCode(error) !== STREAM_NAME_IN_USE) throw error;
  }
}
