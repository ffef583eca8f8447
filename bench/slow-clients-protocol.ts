import { z } from "zod";

/** An order for the process of slow clients. */
export const slowClientsOrder = z.discriminatedUnion("kind", [
  /** Opens this number of connections of each kind; the answer comes once all are there. */
  z.object({
    kind: z.literal("open"),
    port: z.number(),
    /** Connections whose heads never end. */
    heads: z.number(),
    /** Connections with whole heads and this key, whose bodies never end. */
    bodies: z.number(),
    apiKey: z.string(),
  }),
  z.object({ kind: z.literal("count") }),
  z.object({ kind: z.literal("close") }),
]);

/** The number of open connections, and of connections that the server has cut so far. */
export const slowClientsCount = z.object({ open: z.number(), cut: z.number() });
