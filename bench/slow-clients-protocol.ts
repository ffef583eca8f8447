import { z } from "zod";

/** What the process of slow clients is told. */
export const slowClientsOrder = z.discriminatedUnion("kind", [
  /** Open so many connections of each kind; answered once all are there. */
  z.object({
    kind: z.literal("open"),
    port: z.number(),
    /** Whose heads never end. */
    heads: z.number(),
    /** Whose heads are whole, with this key, and whose bodies never end. */
    bodies: z.number(),
    apiKey: z.string(),
  }),
  z.object({ kind: z.literal("count") }),
  z.object({ kind: z.literal("close") }),
]);

/** Connections that are open, and those that the server has cut so far. */
export const slowClientsCount = z.object({ open: z.number(), cut: z.number() });
