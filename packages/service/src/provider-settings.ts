import { PROVIDERS } from "@workflow/catalog";
import { text, url } from "./setting-types.ts";

/**
 * The settings of each provider, under its id in capitals: `GOOGLE_MAIL_BASE_URL` for google-mail. They
 * are not among the other settings, because the ids come from the catalog of providers. `withoutEffect`
 * marks a setting that no code reads.
 */
export const PROVIDER_SETTINGS = {
  BASE_URL: {
    schema: url("http", "https"),
    description:
      "Sends calls for the provider to another host, such as its sandbox; that one may be private and without TLS.",
  },
  CLIENT_ID: {
    schema: text(),
    description: "OAuth client of the provider, for connecting without the broker.",
  },
  CLIENT_SECRET: {
    schema: text(),
    description: "Secret of that OAuth client.",
  },
  OAUTH_BASE_URL: {
    schema: url("http", "https"),
    description:
      "Takes the place of scheme and host in the addresses where accounts of the provider are authorized, without the broker; may be private and without TLS.",
  },
  EVENTS_TARGET: {
    schema: text(),
    description:
      "Where the provider is asked to send the events of connected accounts, for those that have to be asked for each account: google-mail's Pub/Sub topic, `projects/<project>/topics/<topic>`.",
  },
} as const;

/** The ids of the providers that have settings. */
export const PROVIDER_IDS: readonly string[] = PROVIDERS.map(({ id }) => id);

/** The settings of one provider. */
export interface ProviderSettings {
  baseUrl?: string;
  clientId?: string;
  clientSecret?: string;
  oauthBaseUrl?: string;
  eventsTarget?: string;
}

/** The name of a provider's setting: `("google-mail", "BASE_URL")` gives GOOGLE_MAIL_BASE_URL. */
export function providerSettingName(
  providerId: string,
  key: keyof typeof PROVIDER_SETTINGS,
): string {
  return `${providerId.toUpperCase().replaceAll("-", "_")}_${key}`;
}
