import type { ProviderManifest } from "@workflow/catalog";

/** The broker's name of a provider. */
export function brokerIntegration({ id, auth }: ProviderManifest): string {
  return auth.kind === "oauth" ? (auth.brokerIntegration ?? id) : id;
}
