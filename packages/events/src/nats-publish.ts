import type { JetStreamClient } from "nats";
import { ErrorCode, headers, NatsError } from "nats";
import { isEventType, subjectOf } from "./envelope.ts";
import type { PublishedEvent, PublishFailure } from "./event-bus.ts";
import { unavailable } from "./event-bus.ts";
import type { EncodedBody } from "./nats-body.ts";
import { encodeBody, ENCODING_HEADER, GZIP } from "./nats-body.ts";
import type { NatsStreamOptions } from "./nats-config.ts";
import type { DeviationLog } from "./nats-deviations.ts";
import { jetStreamErrorCode } from "./nats-errors.ts";
import type { NatsLink, NatsSession } from "./nats-link.ts";
import { ensureStream } from "./nats-stream.ts";

/** Events under way at once, and their bytes. The limits bound the client's buffer. */
const WINDOW_EVENTS = 256;
const WINDOW_CHARS = 4 * 1024 * 1024;
const ACK_TIMEOUT_MS = 3_000;
const MAX_PAYLOAD_EXCEEDED: string = ErrorCode.MaxPayloadExceeded;
const MESSAGE_TOO_BIG = 10054;

/** Publishes the events in order; returns those that JetStream has not confirmed. */
export async function publishOverNats(
  bus: { link: NatsLink; stream: NatsStreamOptions; tellDeviations: DeviationLog },
  events: readonly PublishedEvent[],
): Promise<PublishFailure[]> {
  const session = bus.link.current();
  if (session === null) return unavailable(events, new Error("There is no connection to NATS."));
  try {
    for (const name of new Set(events.map(({ stream }) => stream))) {
      await ensureStream(session, name, bus.stream, bus.tellDeviations);
    }
  } catch (error) {
    return unavailable(events, error);
  }
  const failures: PublishFailure[] = [];
  for (let from = 0; from < events.length;) {
    const window = nextWindow(events, from);
    from += window.length;
    const outcomes = await publishWindow(session, window);
    failures.push(...outcomes.filter((outcome) => outcome !== null));
    if (outcomes.some((outcome) => outcome?.kind === "unavailable")) {
      // The stream may be gone: it is looked up again before the next attempt.
      session.streams.clear();
      const rest = events.slice(from);
      failures.push(...unavailable(rest, new Error("An event before was not confirmed.")));
      break;
    }
  }
  return failures;
}

async function publishWindow(
  session: NatsSession,
  events: readonly PublishedEvent[],
): Promise<(PublishFailure | null)[]> {
  const client = session.connection.jetstream({ timeout: ACK_TIMEOUT_MS });
  const { promise: lost, reject } = Promise.withResolvers<never>();
  // The races below handle the rejection. With none under way it must not count as unhandled.
  lost.catch(() => {});
  const onLost = (): void => reject(new Error("The connection to NATS was lost."));
  if (session.lost.aborted) onLost();
  else session.lost.addEventListener("abort", onLost, { once: true });
  try {
    const messages = await Promise.all(
      events.map(async (event) => ({ event, body: await encodeBody(event.body) })),
    );
    return await Promise.all(
      messages.map(async ({ event, body }) => {
        if (!isEventType(event.type)) return refused(event, new Error("The type is not valid."));
        if (body === null) return refused(event, new Error("The event is too big."));
        try {
          await Promise.race([publishOne(client, event, body), lost]);
          return null;
        } catch (cause) {
          if (isTooBig(cause)) return refused(event, cause);
          return { id: event.id, kind: "unavailable" as const, cause };
        }
      }),
    );
  } finally {
    session.lost.removeEventListener("abort", onLost);
  }
}

/** The message id lets the server drop repeats. */
async function publishOne(
  client: JetStreamClient,
  event: PublishedEvent,
  body: EncodedBody,
): Promise<void> {
  const messageHeaders = headers();
  if (body.gzipped) messageHeaders.set(ENCODING_HEADER, GZIP);
  await client.publish(subjectOf(event.stream, event.type), body.bytes, {
    msgID: event.id,
    expect: { streamName: event.stream },
    headers: messageHeaders,
  });
}

function refused({ id }: PublishedEvent, cause: unknown): PublishFailure {
  return { id, kind: "refused", cause };
}

/**
 * Whether it is bigger than the stream allows, or than the server's `max_payload` (which the client
 * checks).
 */
function isTooBig(error: unknown): boolean {
  if (jetStreamErrorCode(error) === MESSAGE_TOO_BIG) return true;
  return error instanceof NatsError && error.code === MAX_PAYLOAD_EXCEEDED;
}

function nextWindow(events: readonly PublishedEvent[], from: number): PublishedEvent[] {
  const window: PublishedEvent[] = [];
  let chars = 0;
  for (const event of events.slice(from, from + WINDOW_EVENTS)) {
    chars += event.body.length;
    if (window.length > 0 && chars > WINDOW_CHARS) break;
    window.push(event);
  }
  return window;
}
