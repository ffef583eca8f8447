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
 * A job of the load process. `closed`: each connection sends its next request after the answer to the last one, for
 * a time or up to a number. `open`: requests go out at fixed times, whether or not earlier ones have an answer.
 */
export const loadJob = z.discriminatedUnion("model", [
  z.object({
    model: z.literal("closed"),
    request,
    /**
     * Requests in place of `request`, shared out among the connections; each connection repeats its share.
     */
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

/**
 * The result of a job. Latencies are milliseconds; those of the open model count from the scheduled time.
 */
export const loadResult = z.object({
  /** Answers of status 2xx. */
  succeeded: z.number(),
  /** Other answers, broken connections and timeouts. */
  failed: z.number(),
  /** One example of a failure. */
  failure: z.string().optional(),
  /** The succeeded requests divided by the seconds from the first request to the last answer. */
  perSecond: z.number(),
  p50Ms: latency,
  p99Ms: latency,
});
export type LoadResult = z.infer<typeof loadResult>;

/** The answer of the load process to a job. */
export const loadReply = z.union([
  z.object({ result: loadResult }),
  z.object({ error: z.string() }),
]);
