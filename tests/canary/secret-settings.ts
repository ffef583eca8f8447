import { PROVIDER_IDS, providerSettingName } from "@workflow/service";
import { SETTINGS } from "../../deploy/dev/src/setting-catalogue.ts";
import type { Hide } from "./hide.ts";

/** Providers whose accounts people authorize, in the tour with an authorization server each. */
export const AUTHORIZED = ["google-mail", "hubspot"] as const;

/** Doubles whose addresses the settings name. */
export interface Outside {
  worldUrl: string;
  mailUrl: string;
  natsUrl: string;
}

/** How settings end that hold a secret. */
const SECRET = /(_SECRET|_SECRET_KEY|_API_KEY)$/;
/** Given later, as the broker takes the place of OAuth clients of our own. */
const LATER = ["NANGO_SECRET_KEY"];

/** The id of our application at every provider, which is no secret. */
export const CLIENT_ID = "our-client";

/** Every setting that holds a secret, and those that lead to the doubles. */
export function makeSettings(hide: Hide, outside: Outside): Record<string, string> {
  const { worldUrl, mailUrl, natsUrl } = outside;
  const secrets = Object.keys(SETTINGS).filter(
    (name) => SECRET.test(name) && !LATER.includes(name),
  );
  const settings: Record<string, string> = {
    LOG_LEVEL: "trace",
    OUTBOUND_ALLOW_PRIVATE: "true",
    EMAIL_FROM: "Shop <shop@shop.example>",
    SMTP_URL: mailUrl,
    NATS_URL: natsUrl,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${worldUrl}/traces`,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${hide("OTEL_EXPORTER_OTLP_HEADERS")}`,
    OTEL_TRACES_SAMPLER: "always_on",
  };
  for (const name of secrets)
    settings[name] = hide(name, (core) => `${name.toLowerCase()}-${core}`);
  for (const id of PROVIDER_IDS) {
    const set = (key: Parameters<typeof providerSettingName>[1], value: string): void => {
      settings[providerSettingName(id, key)] ??= value;
    };
    set("BASE_URL", `${worldUrl}/${id}`);
    set("CLIENT_ID", CLIENT_ID);
    set("CLIENT_SECRET", hide(providerSettingName(id, "CLIENT_SECRET")));
  }
  return settings;
}
