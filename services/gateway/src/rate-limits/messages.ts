import { z } from "zod";

const count = z.number().int().nonnegative();

/** A window that shall count one more, with its limit. */
const claimed = z.tuple([z.string(), count]);

/**
 * What came of a claim: the index of the window that had no room (-1: none, all have counted one), after how
 * many milliseconds it has, and of the first window its count and when the oldest of that leaves.
 */
const outcome = z.tuple([z.number().int(), z.number(), count, z.number()]);

const batch = z.object({
  kind: z.literal("batch"),
  from: z.string(),
  /** What the sender knows of a window and a source: ages and numbers. */
  told: z.array(z.tuple([z.string(), z.string(), z.array(z.tuple([z.number(), count]))])),
  /** What was let through just now, and by whom: one more in each of some windows. */
  passed: z.array(z.tuple([z.string(), z.array(z.string())])),
  /** Claims; what was let through already counts even where there is no room. */
  asked: z
    .object({ id: z.number(), claims: z.array(z.tuple([z.boolean(), z.array(claimed)])) })
    .nullable(),
  answered: z.array(z.object({ id: z.number(), outcomes: z.array(outcome) })),
});

/** What gateways tell each other about limits. */
export const gatewayMessage = z.discriminatedUnion("kind", [
  batch,
  /** The sender lives. A newcomer is answered at once. */
  z.object({ kind: z.literal("here"), from: z.string(), isNew: z.boolean() }),
  z.object({ kind: z.literal("bye"), from: z.string() }),
]);

export type GatewayMessage = z.output<typeof gatewayMessage>;
export type Batch = z.output<typeof batch>;
export type Claimed = Readonly<z.output<typeof claimed>>;
export type Outcome = Readonly<z.output<typeof outcome>>;
