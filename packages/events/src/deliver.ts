import { parseEnvelope } from "./envelope.ts";
import type { EventEnvelope } from "./envelope.ts";
import type { EventHandler, Message, SubscribeOptions } from "./event-bus.ts";
import type { EncodedBody } from "./nats-body.ts";

/** One message for one consumer. */
export interface Delivery {
  type: string;
  /**
   * The text of the message.
   *
   * @throws Error when there is none in it
   */
  readText: () => Promise<string>;
  /** The message as it travels on the bus. */
  encode: () => Promise<EncodedBody>;
  /** Identifies the message in its stream when it is no event. */
  position: string;
  /** Whether it may have failed before. */
  isRepeated: boolean;
}

/**
 * The outcome of a delivery: `done`; `kept` as a dead letter; `foreign`: no event, and nobody keeps
 * dead letters; `failed`: it has to be delivered again.
 */
export type Outcome =
  { is: "done" } | { is: "kept" } | { is: "foreign" } | { is: "failed"; error: unknown };

/** Hands a message to the handler, or to the dead letters when that fails. Never rejects. */
export async function deliver(options: SubscribeOptions, delivery: Delivery): Promise<Outcome> {
  try {
    const event = await readEvent(delivery);
    if (event === null) return await keepForeign(options, delivery);
    return await handle(options, delivery, event);
  } catch (error) {
    return { is: "failed", error };
  }
}

async function handle(
  options: SubscribeOptions,
  { type, encode, isRepeated }: Delivery,
  event: EventEnvelope,
): Promise<Outcome> {
  const { deadLetters, handler } = options;
  try {
    await handleTraced(options, handler, event);
  } catch (error) {
    if (deadLetters === undefined) return { is: "failed", error };
    try {
      const { id: eventId, companyId } = event;
      const message: Message = { eventId, type, companyId, body: await encode() };
      const isKept = await deadLetters.countFailure(options, message, error);
      return isKept ? { is: "kept" } : { is: "failed", error };
    } catch (countError) {
      return {
        is: "failed",
        error: new Error("The failure was not counted.", { cause: countError }),
      };
    }
  }
  if (isRepeated) await deadLetters?.forget(options, event.id);
  return { is: "done" };
}

/** Handles an event under a span of its own. The event that the handler gets names that span. */
function handleTraced(
  { tracer, stream, consumer }: SubscribeOptions,
  handler: EventHandler,
  event: EventEnvelope,
): Promise<void> {
  const span = tracer?.span(`consume ${event.type}`, event.traceparent, {
    kind: "consumer",
    attributes: {
      "messaging.destination.name": stream,
      "messaging.consumer.group.name": consumer,
      "messaging.message.id": event.id,
      "workflow.event.age_ms": Date.now() - Date.parse(event.timestamp),
      "workflow.company.id": event.companyId,
      "workflow.request.id": event.requestId,
    },
  });
  if (span === undefined) return handler(event);
  return handler({ ...event, traceparent: span.traceparent }).then(
    () => span.end(),
    (error: unknown) => {
      span.end("HANDLER_FAILED");
      throw error;
    },
  );
}

async function keepForeign(
  options: SubscribeOptions,
  { type, encode, position }: Delivery,
): Promise<Outcome> {
  if (options.deadLetters === undefined) return { is: "foreign" };
  const message: Message = { eventId: position, type, companyId: null, body: await encode() };
  await options.deadLetters.keep(options, message, "This is no event.");
  return { is: "kept" };
}

/** Null for anything that is no event, whatever its bytes. */
async function readEvent({ readText }: Delivery): Promise<EventEnvelope | null> {
  try {
    return parseEnvelope(await readText());
  } catch {
    return null;
  }
}
