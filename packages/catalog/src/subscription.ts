import { finishRequest } from "./build-request.ts";
import type { ProviderRequest } from "./build-request.ts";
import { fill } from "./fill-pattern.ts";
import type { ConnectionAccess, ProviderManifest } from "./provider-manifest.ts";

/**
 * The request that subscribes to the events of an account; null for a provider without such a request.
 *
 * @param target the operator's `<ID>_EVENTS_TARGET`
 * @param baseUrl replaces the provider's base URL
 * @throws MissingFieldError when the connection lacks a field or a credential
 */
export function buildSubscription(
  provider: ProviderManifest,
  access: ConnectionAccess,
  { target, baseUrl }: { target: string; baseUrl?: string | undefined },
): ProviderRequest | null {
  const { subscription } = provider;
  if (subscription === undefined) return null;
  const values = { ...access.fields, target };
  const members = Object.entries(subscription.body);
  const parts = {
    method: subscription.method,
    path: fill(subscription.path, access.fields, encodeURIComponent),
    query: {},
    headers: {},
    body: Object.fromEntries(members.map(([name, pattern]) => [name, fill(pattern, values)])),
  };
  return finishRequest(provider, {}, parts, { access, baseUrl });
}
