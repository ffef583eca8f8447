import type { OAuthAuth, ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import { providerSettingName } from "@workflow/service";
import type { ProviderSettings } from "@workflow/service";
import { brokerIntegration } from "../connections/broker-integration.ts";
import type { OAuthApplication } from "./oauth-client.ts";

/** The ways to connect accounts of a provider. */
export type Way =
  | { kind: "broker"; integration: string }
  | { kind: "embedded"; auth: OAuthAuth; application: OAuthApplication };

/** The operator's settings that decide about the way. */
export interface WaySettings {
  hasBroker: boolean;
  /** Settings by the provider's id. */
  providers: ReadonlyMap<string, ProviderSettings>;
}

/**
 * The way to connect a provider's accounts: the broker if there is one, otherwise the operator's own
 * application (D38).
 *
 * @throws AppError BAD_REQUEST for a provider that is connected in another way, or naming the missing
 * setting
 */
export function chooseWay(provider: ProviderManifest, settings: WaySettings): Way {
  const { auth, id } = provider;
  if (auth.kind === "apiKey") throw badProvider(`${provider.name} is connected with an API key.`);
  if (auth.kind === "own") throw badProvider(`${provider.name} needs no authorization.`);
  if (settings.hasBroker) return { kind: "broker", integration: brokerIntegration(provider) };
  if (auth.kind === "bank") throw notSetUp(provider.name, ["NANGO_SECRET_KEY"]);
  const application = findApplication(id, settings);
  if (application !== null) return { kind: "embedded", auth, application };
  const { clientId, clientSecret } = settings.providers.get(id) ?? {};
  throw notSetUp(provider.name, [
    "NANGO_SECRET_KEY",
    ...(clientId === undefined ? [providerSettingName(id, "CLIENT_ID")] : []),
    ...(clientSecret === undefined ? [providerSettingName(id, "CLIENT_SECRET")] : []),
  ]);
}

/** The operator's application at a provider; null when it is missing or incomplete. */
export function findApplication(
  providerId: string,
  { providers }: Pick<WaySettings, "providers">,
): OAuthApplication | null {
  const { clientId, clientSecret, oauthBaseUrl } = providers.get(providerId) ?? {};
  if (clientId === undefined || clientSecret === undefined) return null;
  return { clientId, clientSecret, oauthBaseUrl };
}

function notSetUp(name: string, [broker = "", ...own]: readonly string[]): AppError {
  const settings = own.length === 0 ? broker : `${broker}, or ${own.join(" and ")}`;
  const are = own.length === 0 ? "is" : "are";
  return badProvider(`${name} is not set up here: ${settings} ${are} not set.`);
}

function badProvider(message: string): AppError {
  return new AppError("BAD_REQUEST", message, { violations: [{ path: ["provider"], message }] });
}
