import type { SettingName } from "@workflow/service";
import { flag, millisecondsList, text, wholeNumber } from "@workflow/service/setting-types";
import type { z } from "zod";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The settings that this service reads alone. */
export const SETTINGS = {
  DELIVERY_RETRY_DELAYS_MS: millisecondsList()
    .default([
      10 * SECOND_MS,
      30 * SECOND_MS,
      MINUTE_MS,
      5 * MINUTE_MS,
      15 * MINUTE_MS,
      HOUR_MS,
      6 * HOUR_MS,
      24 * HOUR_MS,
    ])
    .describe("Waiting time after each failed delivery attempt."),
  WEBHOOK_RETENTION_DAYS: wholeNumber(8, 36_500)
    .default(30)
    .describe("Days for which inbound events and deliveries are kept; they go by whole weeks."),
  WEBHOOK_REQUIRE_SIGNATURE: flag()
    .default(false)
    .describe("Refuses inbound webhooks that cannot be verified."),
  NANGO_WEBHOOK_SECRET: text()
    .optional()
    .describe(
      "Verifies webhooks of the OAuth broker; several with commas between them. Without it they are answered 500.",
    ),
  STRIPE_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of Stripe; several with commas between them."),
  RESEND_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of Resend; several with commas between them."),
  AIRWALLEX_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of Airwallex; several with commas between them."),
  HUBSPOT_CLIENT_SECRET: text()
    .optional()
    .describe(
      "Verifies webhooks of HubSpot; several with commas between them, of which the first is its OAuth client secret as well.",
    ),
  FINANCE_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of the finance application; several with commas between them."),
} as const satisfies Partial<Record<SettingName, z.ZodType>>;
