import { z } from "zod";

const request = z.object({
  url: z.url(),
  method: z.enum(["GET", "POST", "PUT", "DELETE"]),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  /** Whether `[<id>]` in the body becomes another text in each request; closed model only. */
  idReplacement: z.boolean().optional(),
});

/** A request that is sent again and again. */
export type LoadRequest = z.infer<typeof request>;

/**
 * What the load process is asked to do. `closed`: each connection sends its next request when it has
 * the answer to the last one, for a time or up to an amount. `open`: requests are sent at fixed
 * times, whether or not earlier ones have been answered.
 */
export const loadJob = z.discriminatedUnion("model", [
  z.object({
    model: z.literal("closed"),
    request,
    /** What is sent instead, where there is any: shared out among the connections, each of which repeats its share. */
    variety: z.array(request).optional(),
    connections: z.number(),
    stop: z.union([z.object({ afterMs: z.number() }), z.object({ afterRequests: z.number() })]),
  }),
  z.object({
    model: z.literal("open"),
    request,
    ratePerSecond: z.number(),
    durationMs: z.number(),
  }),
]);
export type LoadJob = z.infer<typeof loadJob>;

/** The percentile of no answers is NaN. */
const latency = z.union([z.number(), z.nan()]);

/** What came of a job. Latencies are milliseconds; of the open model, from the scheduled time on. */
export const loadResult = z.object({
  /** Answers of status 2xx. */
  succeeded: z.number(),
  /** Other answers, broken connections and timeouts. */
  failed: z.number(),
  /** One example of a failure. */
  failure: z.string().optional(),
  /** Succeeded, by the time from the first request to the last answer. */
  perSecond: z.number(),
  p50Ms: latency,
  p99Ms: latency,
});
export type LoadResult = z.infer<typeof loadResult>;

/** How the load process answers a job. */
export const loadReply = z.union([
  z.object({ result: loadResult }),
  z.object({ error: z.string() }),
]);
