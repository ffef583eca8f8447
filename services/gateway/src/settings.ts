import type { SettingName } from "@workflow/service";
import { port, wholeNumber } from "@workflow/service/setting-types";
import type { z } from "zod";
import { origins, trustedProxies } from "./proxy-settings.ts";

/** The settings that this service reads alone. */
export const SETTINGS = {
  PORT: port()
    .default(8080)
    .describe("Port of the gateway: /api/v1, /webhooks, /connect, /docs and /.well-known."),
  TRUSTED_PROXIES: trustedProxies()
    .default(0)
    .describe(
      "Reverse proxies in front of the gateway whose X-Forwarded headers are believed: addresses, CIDR blocks or loopback, linklocal, uniquelocal, separated by commas; or their number, whoever calls.",
    ),
  CORS_ORIGINS: origins()
    .optional()
    .describe(
      "Origins whose web pages may call the API with a key, as https://app.example.com, separated by commas; none if unset.",
    ),
  COMPANY_CONNECTIONS_MAX: wholeNumber(1, 1_000_000)
    .default(2_000)
    .describe("Open connections of one company to one gateway; further ones answer 429."),
  CONNECTIONS_MAX: wholeNumber(1, 1_000_000)
    .default(10_000)
    .describe(
      "Open connections of all to one gateway; nobody holds more of them than are free. Further ones are cut.",
    ),
  AUDIT_RETENTION_DAYS: wholeNumber(0, 36_500)
    .refine((days) => days === 0 || days >= 30, "must be 0, or at least 30")
    .default(0)
    .describe("Days for which events of the audit log are kept, at least 30; 0 is for ever."),
  RATE_LIMIT_READ: rateLimit(1_000).describe(
    "Reading requests in any minute of one API key, or one user in a company; 0 is no limit.",
  ),
  RATE_LIMIT_WRITE: rateLimit(100).describe(
    "Writing requests in any minute of one API key, or one user in a company; 0 is no limit.",
  ),
  RATE_LIMIT_EXECUTE: rateLimit(500).describe(
    "Requests that start or steer runs in any minute, of one API key or one user in a company; 0 is no limit.",
  ),
  RATE_LIMIT_COMPANY_FACTOR: wholeNumber(0, 10_000)
    .default(20)
    .describe(
      "All keys and users of a company together have so many times the limits of one; 0 is no limit.",
    ),
  RATE_LIMIT_INBOUND: rateLimit(10_000).describe(
    "Inbound webhook requests in any minute of one IP address, or one /64 network of IPv6; 0 is no limit.",
  ),
} as const satisfies Partial<Record<SettingName, z.ZodType>>;

function rateLimit(perMinute: number) {
  return wholeNumber(0, 1_000_000_000).default(perMinute);
}
