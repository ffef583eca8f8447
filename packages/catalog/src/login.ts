import { baseUrlOf } from "./build-request.ts";
import type { ProviderRequest } from "./build-request.ts";
import { fill, patternValues } from "./fill-pattern.ts";
import { readPath } from "./json-path.ts";
import type { LoginRequest } from "./provider-auth.ts";
import type { ConnectionAccess, ProviderAnswer, ProviderManifest } from "./provider-manifest.ts";

/** A token that keys were exchanged for. */
export interface LoginToken {
  accessToken: string;
  /** Milliseconds since 1970. */
  expiresAtMs: number;
}

/** The provider's exchange of keys for tokens; undefined for a provider that takes the keys themselves. */
export function loginOf({ auth }: ProviderManifest): LoginRequest | undefined {
  return auth.kind === "apiKey" ? auth.login : undefined;
}

/**
 * The request that asks for a token.
 *
 * @param baseUrl replaces the provider's base URL
 * @throws MissingFieldError when the connection lacks a field or a credential
 */
export function buildLogin(
  provider: ProviderManifest,
  login: LoginRequest,
  access: ConnectionAccess,
  baseUrl: string = baseUrlOf(provider, access),
): ProviderRequest {
  const values = patternValues(access);
  const fillAll = (patterns: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(patterns).map(([name, pattern]) => [name, fill(pattern, values)]),
    );
  const headers = lowerCase({ ...fillAll(provider.headers ?? {}), ...fillAll(login.headers) });
  const body = login.body === undefined ? undefined : JSON.stringify(fillAll(login.body));
  return {
    method: login.method,
    url: baseUrl.replace(/\/+$/, "") + fill(login.path, values, encodeURIComponent),
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    body,
  };
}

/** The token in a successful answer; null when there is none. */
export function readLogin(
  login: LoginRequest,
  { body }: ProviderAnswer,
  nowMs: number,
): LoginToken | null {
  const accessToken = readPath(body, login.token);
  if (typeof accessToken !== "string" || accessToken === "") return null;
  const given = login.expiresAt === undefined ? undefined : readPath(body, login.expiresAt);
  const expiresAtMs = typeof given === "number" ? nowMs + given * 1_000 : Date.parse(String(given));
  const isTime = given !== undefined && Number.isFinite(expiresAtMs);
  return { accessToken, expiresAtMs: isTime ? expiresAtMs : nowMs + login.livesForMs };
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
