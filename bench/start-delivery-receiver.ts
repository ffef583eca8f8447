import { z } from "zod";
import type { Scope } from "@workflow/async";
import { startHelper } from "./child-process.ts";
import { arrivals } from "./delivery-protocol.ts";
import type { Arrivals, DeliveryOrder } from "./delivery-protocol.ts";

/** The receiver of deliveries. */
export interface DeliveryReceiver {
  /** The URL of an endpoint of a group. */
  urlOf(group: string, index?: number): string;
  /** Sets the answer to a group from now on; by default 200 at once. */
  answer(group: string, answer: { status?: number; afterMs?: number }): Promise<void>;
  /**
   * Waits for this number of deliveries of a group, reports all that have come, and forgets them.
   * @throws Error when there are fewer after the time
   */
  collect(group: string, count: number, withinMs?: number): Promise<Arrivals>;
}

const WITHIN_MS = 120_000;

/** Starts a process that takes deliveries and ends with the scope. */
export async function startDeliveryReceiver(scope: Scope): Promise<DeliveryReceiver> {
  const helper = startHelper(scope, "delivery-receiver.ts");
  const ask = <Schema extends z.ZodType>(order: DeliveryOrder, answer: Schema) =>
    helper.ask(order, answer);
  const { url } = await ask({ kind: "listen" }, z.object({ url: z.url() }));
  return {
    urlOf: (group, index = 0) => `${url}/${group}/${index}`,
    async answer(group, { status = 200, afterMs = 0 }) {
      await ask({ kind: "answer", group, status, afterMs }, z.object({ done: z.literal(true) }));
    },
    async collect(group, count, withinMs = WITHIN_MS) {
      const arrived = await ask({ kind: "collect", group, count, withinMs }, arrivals);
      if (arrived.count < count) {
        throw new Error(`Only ${arrived.count} of ${count} deliveries have arrived.`);
      }
      return arrived;
    },
  };
}
