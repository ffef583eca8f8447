import { z } from "zod";

/** What the process of a receiver is told when it starts. */
export const receiverStart = z.object({
  /** 0 for any. */
  port: z.number(),
  /** Gets a line for each delivery. */
  file: z.string(),
  /** Of the endpoints, by the paths of their URLs. */
  secrets: z.record(z.string(), z.string()),
});
export type ReceiverStart = z.output<typeof receiverStart>;

/** A delivery as it arrived. */
export const receivedDelivery = z.object({
  /** Of the endpoint's URL. */
  path: z.string(),
  /** The event's. */
  id: z.string(),
  type: z.string(),
  runId: z.string(),
  /** Whether both signatures are the endpoint's and all headers name the body's id. */
  isValid: z.boolean(),
});
export type ReceivedDelivery = z.output<typeof receivedDelivery>;

/** What has come of some events. */
export interface DeliveryCount {
  /** Deliveries as they should be: each event once at each endpoint. */
  expected: number;
  /** Of them, those that never arrived. */
  missing: number;
  /** Deliveries that had arrived before. */
  duplicates: number;
  /** Deliveries that nobody can trust, and events that came with several ids. */
  invalid: number;
}

/** Compares what arrived with the events that there were, each named by its run and type. */
export function countDeliveries(
  received: readonly ReceivedDelivery[],
  paths: readonly string[],
  runIds: readonly string[],
  types: readonly string[],
): DeliveryCount {
  const idsOf = new Map<string, string>();
  const arrived = new Set<string>();
  let invalid = 0;
  for (const { path, id, type, runId, isValid } of received) {
    const event = `${runId} ${type}`;
    const known = idsOf.get(event) ?? id;
    idsOf.set(event, known);
    if (!isValid || known !== id) invalid += 1;
    arrived.add(`${path} ${event}`);
  }
  // Two events with one id would be one to a receiver that drops what it has seen.
  invalid += idsOf.size - new Set(idsOf.values()).size;
  const expected = paths.flatMap((path) =>
    runIds.flatMap((runId) => types.map((type) => `${path} ${runId} ${type}`)),
  );
  return {
    expected: expected.length,
    missing: expected.filter((each) => !arrived.has(each)).length,
    duplicates: received.length - arrived.size,
    invalid,
  };
}
