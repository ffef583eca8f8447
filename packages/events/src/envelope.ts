import { isId, isUuid } from "@workflow/db";
import { isJsonObject } from "@workflow/json";
import { z } from "zod";

/** Event ids are `evt_` and 26 Crockford digits of a UUIDv7, so they sort by time (D1). */
export const EVENT_ID_PREFIX = "evt_";

const TOKEN = "[a-z][a-z0-9_]*";
const BUS_SAFE_NAME = new RegExp(`^${TOKEN}(\\.${TOKEN})*$`);
const STREAM_NAME = new RegExp(`^${TOKEN}$`);

/**
 * Dotted lower-case words such as `workflow.completed` or `dashboard.layout_updated`. A valid type can
 * stand in a subject without a special meaning to the bus (no wildcard, no space).
 */
export const eventTypeSchema = z.string().max(100).regex(BUS_SAFE_NAME);

/** An event on the bus, as JSON. */
export const eventEnvelopeSchema = z.object({
  id: z.string().refine((text) => isId(EVENT_ID_PREFIX, text)),
  type: eventTypeSchema,
  /** When the event happened, ISO 8601 in UTC. */
  timestamp: z.iso.datetime(),
  companyId: z.string().refine(isUuid),
  /** The request that caused it. With it one request can be followed from the gateway to a delivery. */
  requestId: z.string().optional(),
  /** W3C trace context of its origin, where its trace is recorded. */
  traceparent: z.string().optional(),
  // Kept as it is rather than copied: a copy would drop keys such as __proto__.
  data: z.custom<Record<string, unknown>>(isJsonObject),
});

export type EventEnvelope = z.output<typeof eventEnvelopeSchema>;

/** An event that a service is about to write into its outbox. */
export interface NewEvent {
  /** Made when absent. It is given where the id must be known beforehand. */
  id?: string;
  type: string;
  companyId: string;
  requestId?: string | undefined;
  /** W3C trace context of its origin; only of a trace that is recorded. */
  traceparent?: string | undefined;
  /** When the event happened; now when absent. */
  timestamp?: Date;
  data: object;
}

/** Reads an envelope from its JSON text; null for any other text. */
export function parseEnvelope(body: string): EventEnvelope | null {
  try {
    return eventEnvelopeSchema.parse(JSON.parse(body));
  } catch {
    return null;
  }
}

/** The subject of an event: `runs` and `workflow.completed` make `runs.workflow.completed`. */
export function subjectOf(stream: string, type: string): string {
  if (!STREAM_NAME.test(stream) || !isEventType(type)) {
    throw new Error(`Not fit for a subject: ${JSON.stringify([stream, type])}`);
  }
  return `${stream}.${type}`;
}

/** Whether a text can be the type of an event. */
export function isEventType(text: string): boolean {
  return eventTypeSchema.safeParse(text).success;
}
