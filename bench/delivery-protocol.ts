import { z } from "zod";

/** What the receiver of deliveries is told. */
export const deliveryOrder = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("listen") }),
  /** How it answers a group from now on; what it answers with other than a 2xx is not counted. */
  z.object({
    kind: z.literal("answer"),
    group: z.string(),
    status: z.number(),
    afterMs: z.number(),
  }),
  /** Wait for so many of a group, tell of them, and forget them. */
  z.object({
    kind: z.literal("collect"),
    group: z.string(),
    count: z.number(),
    withinMs: z.number(),
  }),
]);
export type DeliveryOrder = z.output<typeof deliveryOrder>;

/** What has arrived in a group. */
export const arrivals = z.object({
  count: z.number(),
  /** By the time from the first to the last. */
  perSecond: z.number(),
  /** From the run's completedAt to the first byte, whole milliseconds. */
  p50Ms: z.number(),
  p99Ms: z.number(),
});
export type Arrivals = z.output<typeof arrivals>;
