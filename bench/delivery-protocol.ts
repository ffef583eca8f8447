import { z } from "zod";

/** An order for the receiver of deliveries. */
export const deliveryOrder = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("listen") }),
  /**
   * The answer to a group from now on; deliveries with an answer other than 2xx are not counted.
   */
  z.object({
    kind: z.literal("answer"),
    group: z.string(),
    status: z.number(),
    afterMs: z.number(),
  }),
  /** Waits for this number of a group, reports them, and forgets them. */
  z.object({
    kind: z.literal("collect"),
    group: z.string(),
    count: z.number(),
    withinMs: z.number(),
  }),
]);
export type DeliveryOrder = z.output<typeof deliveryOrder>;

/** The deliveries that have arrived in a group. */
export const arrivals = z.object({
  count: z.number(),
  /** The number divided by the seconds from the first to the last. */
  perSecond: z.number(),
  /** Times from the run's completedAt to the first byte, in whole milliseconds. */
  p50Ms: z.number(),
  p99Ms: z.number(),
});
export type Arrivals = z.output<typeof arrivals>;
