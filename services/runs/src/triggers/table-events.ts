import type { Scope } from "@workflow/async";
import { isUuid } from "@workflow/db";
import { TABLE_EVENTS } from "@workflow/definition";
import { parseEnvelope } from "@workflow/events";
import type { DeadLetters, EventBus, EventEnvelope } from "@workflow/events";
import { recordedTraceparent } from "@workflow/tracing";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import { z } from "zod";
import { tableTriggerKey } from "../domain/trigger-key.ts";
import { findCause } from "../store/triggering-events.ts";
import { startEventInbox } from "./event-inbox.ts";
import type { TriggerDependencies, TriggeringEvent } from "./start-triggered-runs.ts";

const STREAM = "tables";
/** The durable name under which events are consumed. */
const CONSUMER = "runs-table-triggers";

/** The durable consumers of each stream. The bus within the process waits for them. */
export const EVENT_CONSUMERS: Readonly<Record<string, readonly string[]>> = {
  [STREAM]: [CONSUMER],
};

/** The events of the stream by their names in triggers. */
const EVENT_TYPES = new Map(TABLE_EVENTS.map((event) => [`table.${event}`, event]));

/** Values of columns, kept as they are: a copy would drop keys such as __proto__. */
const rowData = z.custom<object>((value) => typeof value === "object" && value !== null);

/** The tables service's event of a changed row. */
const rowEvent = z.object({
  tableId: z.string().refine(isUuid),
  tableName: z.string(),
  rowId: z.string().refine(isUuid),
  position: z.number(),
  /** For a deleted row its last values; null when they are too large for an event. */
  data: rowData.nullable(),
  previousData: rowData.nullable().optional(),
  truncated: z.boolean().optional(),
  /** The run that has changed the row. */
  runId: z.string().optional(),
});

/** Events that are put into the inbox at the same time. They share statements. */
const ARRIVING_MAX = 256;

/** What consuming needs. */
export interface TableEventDependencies extends TriggerDependencies {
  bus: EventBus;
  tracer: Tracer | undefined;
  deadLetters: DeadLetters;
  logger: Logger;
}

/**
 * Starts the runs of workflows whose trigger is a change of a table's rows. Events that happen at about
 * the same time may start their runs in another order.
 */
export async function consumeTableEvents(
  dependencies: TableEventDependencies,
  scope: Scope,
): Promise<void> {
  const { bus, deadLetters, tracer } = dependencies;
  const read = (text: string) => readEvent(dependencies, text);
  const inbox = startEventInbox({ ...dependencies, read }, scope);
  const subscription = await bus.subscribe({
    consumer: CONSUMER,
    stream: STREAM,
    types: [...EVENT_TYPES.keys()],
    maxInFlight: ARRIVING_MAX,
    deadLetters,
    tracer,
    async handler(envelope) {
      const { id, companyId } = envelope;
      const data = parseData(envelope);
      if (data === null) throw new Error("The event of a row is unreadable.");
      const triggerKey = tableTriggerKey(data.tableId);
      await inbox.put({ companyId, id, triggerKey, event: JSON.stringify(envelope) });
    },
  });
  scope.defer(() => subscription.close());
}

function parseData({ type, data }: EventEnvelope) {
  const event = EVENT_TYPES.get(type);
  const parsed = rowEvent.safeParse(data);
  return event === undefined || !parsed.success ? null : { event, ...parsed.data };
}

async function readEvent(
  { database, tracer }: TableEventDependencies,
  text: string,
): Promise<TriggeringEvent | null> {
  const envelope = parseEnvelope(text);
  const parsed = envelope === null ? null : parseData(envelope);
  if (envelope === null || parsed === null) return null;
  const { id, companyId, requestId } = envelope;
  const { event, tableId, tableName, rowId, position, runId, ...content } = parsed;
  return {
    companyId,
    id,
    triggerKey: tableTriggerKey(tableId),
    fires: (trigger) => trigger.type === "table" && trigger.events.includes(event),
    triggerType: "table",
    input: JSON.stringify({ event, tableId, rowId, position, ...content }),
    triggerData: JSON.stringify({ eventId: id, event, tableId, tableName, rowId, runId }),
    requestId: requestId ?? null,
    traceparent: recordedTraceparent(tracer, envelope.traceparent),
    cause: runId === undefined ? null : await findCause(database, companyId, runId),
  };
}
