import type { ServerResponse } from "node:http";
import { AppError } from "@workflow/errors";
import type { Logger } from "pino";
import { Counter } from "prom-client";
import type { Registry } from "prom-client";
import type { KnownCaller } from "../auth/caller.ts";
import type { Bucket } from "../domain/bucket.ts";
import { claimsOf, inboundClaim, limitOf } from "./limit-policy.ts";
import type { LimitPolicy } from "./limit-policy.ts";
import type { Claimed, Outcome } from "./messages.ts";
import type { SharedWindows } from "./shared-windows.ts";

/** Limits how often a caller, and a sender of webhooks, may ask in any minute (D9). */
export interface RateLimits {
  /**
   * Counts a request of a caller in its bucket and writes what is left into the response's headers. A promise when
   * another gateway has to be asked.
   * @throws AppError RATE_LIMITED, at once or by the promise
   */
  admit(caller: KnownCaller, bucket: Bucket, response: ServerResponse): Promise<void> | void;
  /** Counts an inbound webhook of a client. @throws AppError RATE_LIMITED */
  admitInbound(client: string): Promise<void> | void;
}

export interface RateLimitsOptions extends LimitPolicy {
  /** The limit of inbound webhooks of one client; 0 is no limit. */
  inbound: number;
  windows: SharedWindows;
  windowMs: number;
  logger: Logger;
  metricsRegistry?: Registry | undefined;
}

const SAY_AGAIN_MS = 5_000;

/** @see RateLimits */
export function createRateLimits(options: RateLimitsOptions): RateLimits {
  const { windows, inbound, windowMs } = options;
  const refused = createCounter(options.metricsRegistry);
  const claim = createForgivingClaim(windows, options.logger);

  const judge = (outcome: Outcome | null, of: Judged): void => {
    if (outcome === null) return;
    if (of.response !== null) writeHeaders(of.response, of, outcome, windowMs);
    const [refusedBy, retryAfterMs] = outcome;
    if (refusedBy < 0) return;
    const isOfCompany = refusedBy > 0;
    refused?.inc({ bucket: of.bucket, of: isOfCompany ? "company" : "caller" });
    throw tooMany(of.claims[refusedBy]?.[1] ?? 0, retryAfterMs, isOfCompany);
  };
  const take = (of: Judged): Promise<void> | void => {
    const outcome = claim(of.claims);
    if (outcome instanceof Promise) return outcome.then((settled) => judge(settled, of));
    judge(outcome, of);
  };

  return {
    admit(caller, bucket, response) {
      const max = limitOf(options, caller, bucket);
      if (max === 0) return;
      return take({ claims: claimsOf(options, caller, bucket, max), bucket, response });
    },
    admitInbound(client) {
      if (inbound === 0) return;
      return take({ claims: [inboundClaim(client, inbound)], bucket: "inbound", response: null });
    },
  };
}

/** A request with the windows that it counts in. */
interface Judged {
  claims: readonly Claimed[];
  bucket: Bucket | "inbound";
  /** Null for webhooks: the contract has no headers for them. */
  response: ServerResponse | null;
}

type Claim = (claims: readonly Claimed[]) => Outcome | null | Promise<Outcome | null>;

/** A limiter that fails refuses nobody; the log says so now and then. Null means no judgement. */
function createForgivingClaim(windows: SharedWindows, logger: Logger): Claim {
  let saidAt = Number.NEGATIVE_INFINITY;
  const forgive = (error: unknown): null => {
    if (performance.now() - saidAt >= SAY_AGAIN_MS) {
      saidAt = performance.now();
      logger.error({ err: error }, "the rate limiter failed: requests are let through");
    }
    return null;
  };
  return (claims) => {
    try {
      const outcome = windows.claim(claims);
      return outcome instanceof Promise ? outcome.catch(forgive) : outcome;
    } catch (error) {
      return forgive(error);
    }
  };
}

/**
 * The headers of the contract and of draft-ietf-httpapi-ratelimit-headers-11. They describe the caller's own
 * window, which resets when its oldest counted request leaves.
 */
function writeHeaders(
  response: ServerResponse,
  { claims, bucket }: Judged,
  [, , count, resetMs]: Outcome,
  windowMs: number,
): void {
  const max = claims[0]?.[1] ?? 0;
  const remaining = Math.max(0, max - count);
  const resetS = Math.ceil(resetMs / 1000);
  response.setHeader("X-RateLimit-Limit", max);
  response.setHeader("X-RateLimit-Remaining", remaining);
  response.setHeader("X-RateLimit-Reset", Math.ceil((Date.now() + resetMs) / 1000));
  response.setHeader("RateLimit-Policy", `"${bucket}";q=${max};w=${Math.ceil(windowMs / 1000)}`);
  response.setHeader("RateLimit", `"${bucket}";r=${remaining};t=${resetS}`);
}

function tooMany(max: number, retryAfterMs: number, isOfCompany: boolean): AppError {
  return new AppError("RATE_LIMITED", `Rate limit exceeded. Limit: ${max} requests per minute.`, {
    retryAfterMs,
    ...(isOfCompany ? { details: { limit: "company" } } : {}),
  });
}

function createCounter(registry: Registry | undefined): Counter<"bucket" | "of"> | undefined {
  if (registry === undefined) return undefined;
  return new Counter({
    name: "gateway_rate_limited_total",
    help: "Requests that were refused because their caller, client or company had too many.",
    labelNames: ["bucket", "of"],
    registers: [registry],
  });
}
