import type { ProviderManifest } from "@workflow/catalog";

/** What the broker calls a provider. */
export function brokerIntegration({ id, auth }: ProviderManifest): string {
  return auth.kind === "oauth" ? (auth.brokerIntegration ?? id) : id;
}
