import { MissingFieldError } from "./fill-pattern.ts";
import type { ConnectionAccess, ProviderManifest } from "./provider-manifest.ts";

/**
 * Adds our own credentials to those of the connection, for providers that want both. They are for the
 * requests of manifests only: with them a request of a tenant's own making could reach other tenants' data.
 *
 * @param settings the installation's, by name
 * @throws MissingFieldError that names the setting that is not set
 */
export function withOperatorCredentials(
  { name, operatorCredentials }: Pick<ProviderManifest, "name" | "operatorCredentials">,
  access: ConnectionAccess,
  settings: Readonly<Record<string, string | undefined>>,
): ConnectionAccess {
  if (operatorCredentials === undefined) return access;
  const own = Object.entries(operatorCredentials).map(([key, setting]) => {
    const value = settings[setting];
    if (value === undefined || value === "") {
      throw new MissingFieldError(`${name} is not set up here: ${setting} is not set.`);
    }
    return [key, value] as const;
  });
  return { ...access, credentials: { ...access.credentials, ...Object.fromEntries(own) } };
}
