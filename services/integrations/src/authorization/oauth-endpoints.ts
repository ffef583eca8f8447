import { fill, placeholdersOf } from "@workflow/catalog";
import type { ConnectionFields, OAuthAuth, Pattern } from "@workflow/catalog";
import { AppError } from "@workflow/errors";

/** A tenant's field that is safe in a host name: no slash, colon, at sign or space. */
const FIELD = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/;

/**
 * One of the addresses of a provider's authorization server.
 *
 * @param baseUrl the operator's `<PROVIDER>_OAUTH_BASE_URL`, which replaces scheme and host
 * @throws AppError BAD_REQUEST that names a field that the address needs
 */
export function oauthEndpoint(
  pattern: Pattern,
  fields: ConnectionFields,
  baseUrl: string | undefined,
): string {
  const url = fill(pattern, requireFields(pattern, fields));
  return baseUrl === undefined ? url : rebase(url, baseUrl);
}

/** The fields that addresses need, whether they are known before or come with the callback. */
export function fieldsNeeded({ authorizeUrl, tokenUrl }: OAuthAuth): string[] {
  return [...new Set([...placeholdersOf(authorizeUrl), ...placeholdersOf(tokenUrl)])];
}

function requireFields(pattern: Pattern, fields: ConnectionFields): Record<string, string> {
  return Object.fromEntries(
    placeholdersOf(pattern).map((name) => {
      const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (value !== undefined && FIELD.test(value)) return [name, value];
      const message = value === undefined ? "is required" : "must be letters, digits, - and _";
      throw new AppError("BAD_REQUEST", `The request is not valid: ${name} ${message}.`, {
        violations: [{ path: [name], message }],
      });
    }),
  );
}

/** Replaces scheme and host of a URL; path and query stay. */
export function rebase(url: string, baseUrl: string): string {
  const { pathname, search } = new URL(url);
  return `${baseUrl.replace(/\/+$/, "")}${pathname}${search}`;
}
