import { text, url } from "./setting-types.ts";

/**
 * What can be set for each provider, under its id in capitals: `GOOGLE_MAIL_BASE_URL` for
 * google-mail. Provider ids come from the integrations service, so these are not in the catalogue.
 */
export const PROVIDER_SETTINGS = {
  BASE_URL: {
    schema: url("http", "https"),
    description: "Sends calls for the provider to another host, such as its sandbox.",
  },
  CLIENT_ID: {
    schema: text(),
    description: "OAuth client of the provider, for connecting without the broker.",
  },
  CLIENT_SECRET: {
    schema: text(),
    description: "Secret of that OAuth client.",
  },
} as const;

/** The ids of the providers that have settings (D37). */
export const PROVIDER_IDS = [
  "airwallex",
  "avalara",
  "docusign",
  "finance",
  "google-mail",
  "hubspot",
  "netsuite",
  "odoo",
  "plaid",
  "quickbooks",
  "resend",
  "rillet",
  "salesforce",
  "sendgrid",
  "slack",
  "stripe",
] as const;

/** What the environment says about one provider. */
export interface ProviderSettings {
  baseUrl?: string;
  clientId?: string;
  clientSecret?: string;
}

/** The name of a provider's setting: `("google-mail", "BASE_URL")` gives GOOGLE_MAIL_BASE_URL. */
export function providerSettingName(
  providerId: string,
  key: keyof typeof PROVIDER_SETTINGS,
): string {
  return `${providerId.toUpperCase().replaceAll("-", "_")}_${key}`;
}
