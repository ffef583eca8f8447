import { MissingFieldError } from "./fill-pattern.ts";
import type { ConnectionAccess, ProviderManifest } from "./provider-manifest.ts";

/**
 * Adds the operator's credentials to those of the connection, for providers that need both. Only requests of
 * manifests get them: with them a tenant's own request could reach data of other tenants.
 *
 * @param settings the installation's settings, by name
 * @throws MissingFieldError with the name of the missing setting
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
