import type { JetStreamManager, StreamInfo } from "nats";
import type { NatsStreamOptions } from "./nats-config.ts";
import { streamConfig } from "./nats-config.ts";
import type { DeviationLog } from "./nats-deviations.ts";
import { streamDeviations } from "./nats-deviations.ts";
import { jetStreamErrorCode } from "./nats-errors.ts";
import type { NatsSession } from "./nats-link.ts";

/** Without a leader a cluster does not answer: it is better to ask again soon. */
export const API_TIMEOUT_MS = 2_000;

const STREAM_NOT_FOUND = 10059;
const STREAM_NAME_IN_USE = 10058;

/** Creates the stream if it is missing, else reports its deviations. It is looked up once a session. */
export async function ensureStream(
  session: NatsSession,
  name: string,
  options: NatsStreamOptions,
  tellDeviations: DeviationLog,
): Promise<void> {
  if (session.streams.has(name)) return;
  const manager = await session.connection.jetstreamManager({ timeout: API_TIMEOUT_MS });
  const found = await makeStream(manager, name, options);
  if (found !== null) tellDeviations({ stream: name }, streamDeviations(found, options));
  session.streams.add(name);
}

/** Creates the stream if it is missing. Returns null then, else the existing one's configuration. */
export async function makeStream(
  manager: JetStreamManager,
  name: string,
  options: NatsStreamOptions,
): Promise<StreamInfo | null> {
  const found = await findStream(manager, name);
  if (found === null) await addStream(manager, name, options);
  return found;
}

async function findStream(manager: JetStreamManager, name: string): Promise<StreamInfo | null> {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (jetStreamErrorCode(error) === STREAM_NOT_FOUND) return null;
    throw error;
  }
}

async function addStream(
  manager: JetStreamManager,
  name: string,
  options: NatsStreamOptions,
): Promise<void> {
  try {
    await manager.streams.add(streamConfig(name, options));
  } catch (error) {
    // Another process was faster.
    if (jetStreamErrorCode(error) !== STREAM_NAME_IN_USE) throw error;
  }
}
