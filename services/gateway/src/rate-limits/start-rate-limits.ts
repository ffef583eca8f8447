import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Scope } from "@workflow/async";
import type { LimitPolicy } from "./limit-policy.ts";
import { createRateLimits } from "./rate-limits.ts";
import type { RateLimits } from "./rate-limits.ts";
import { startSharedWindows } from "./start-shared-windows.ts";

/** How many requests callers, and senders of webhooks, may make. */
export interface RateLimitOptions extends Partial<LimitPolicy> {
  /** Inbound webhooks of one client; 10,000 by default, 0 is no limit. */
  inbound?: number;
  /**
   * The NATS server on which an installation's gateways share limits. Without it, each gateway counts for itself.
   */
  natsUrl?: string | undefined;
  /** The length of a window in milliseconds; for tests. */
  windowMs?: number;
}

interface StartOptions extends RateLimitOptions {
  /** A secret that all gateways of the installation have, and nobody else. */
  cursorKey: Buffer;
  logger: Logger;
  metricsRegistry?: Registry | undefined;
}

const WINDOW_MS = 60_000;
const INBOUND_MAX = 10_000;
const COMPANY_FACTOR = 20;
const NO_LIMITS = { read: 0, write: 0, execute: 0 };

/** The limits of a gateway, shared with the others of its installation where there is NATS. */
export async function startRateLimits(options: StartOptions, scope: Scope): Promise<RateLimits> {
  const { cursorKey, natsUrl, logger, metricsRegistry, windowMs = WINDOW_MS } = options;
  const installation = createHash("sha256").update("gateways").update(cursorKey).digest("hex");
  const windows = await startSharedWindows(
    { natsUrl, installation: installation.slice(0, 32), windowMs, logger, metricsRegistry },
    scope,
  );
  return createRateLimits({
    limits: options.limits ?? NO_LIMITS,
    companyFactor: options.companyFactor ?? COMPANY_FACTOR,
    inbound: options.inbound ?? INBOUND_MAX,
    windows,
    windowMs,
    logger,
    metricsRegistry,
  });
}
