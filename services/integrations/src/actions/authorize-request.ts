import { baseUrlOf, fill, MissingFieldError, patternValues } from "@workflow/catalog";
import type { Credentials, ProviderManifest } from "@workflow/catalog";
import type { OpenConnection } from "../connections/open-connection.ts";
import { StepFailureError } from "./action-failure.ts";
import { scrubberOf } from "../provider-http/credential-scrubber.ts";

/** The parts of a request that uses a connection, and the hosts that it may go to. */
export interface SignedParts {
  /** The provider's origins, each with its scheme, and with its port unless that is the default. */
  origins: string[];
  /** The origin of the operator's base URL, one of `origins`; it may be a private address. */
  operatorOrigin: string | undefined;
  headers: Record<string, string>;
  /** Default headers such as versions, which the request's own headers replace. */
  defaultHeaders: Record<string, string>;
  query: Record<string, string>;
  body: Record<string, string>;
  /** Texts that must not be recorded. */
  secrets: readonly string[];
}

/**
 * The parts that sign a step's own HTTP request. Our own credentials at a provider are not among them:
 * with those a tenant's request could reach other tenants' data.
 *
 * @param operatorUrl the operator's `<PROVIDER>_BASE_URL`
 * @throws StepFailureError NOT_CONFIGURED when the provider's credentials are for its actions only;
 * CONNECTION_INCOMPLETE
 */
export function signRequest(
  provider: ProviderManifest,
  connection: OpenConnection,
  operatorUrl: string | undefined,
): SignedParts {
  const { sign, hosts } = provider;
  const details = { provider: provider.id, connectionId: connection.connectionId };
  if (hosts?.length === 0) {
    throw new StepFailureError({
      code: "NOT_CONFIGURED",
      message: `Connections of ${provider.name} are for its actions only; http.request cannot use them.`,
      details,
    });
  }
  try {
    const values = patternValues(connection);
    const headers = fillAll(sign.headers, values, lowerCase);
    if (sign.basic !== undefined) headers["authorization"] = basicHeader(sign.basic, values);
    return {
      ...originsOf(provider, connection, operatorUrl),
      headers,
      defaultHeaders: fillAll(provider.headers, values, lowerCase),
      query: fillAll(sign.query, values),
      body: fillAll(sign.body, values),
      secrets: scrubberOf(provider, connection).secrets,
    };
  } catch (error) {
    if (!(error instanceof MissingFieldError)) throw error;
    throw new StepFailureError({ code: "CONNECTION_INCOMPLETE", message: error.message, details });
  }
}

function originsOf(
  provider: ProviderManifest,
  connection: OpenConnection,
  operatorUrl: string | undefined,
): Pick<SignedParts, "origins" | "operatorOrigin"> {
  // An operator who sets another address means the credentials for that host only.
  if (operatorUrl !== undefined) {
    const { origin } = new URL(operatorUrl);
    return { origins: [origin], operatorOrigin: origin };
  }
  const { hosts } = provider;
  const urls =
    hosts === undefined
      ? [baseUrlOf(provider, connection)]
      : hosts.map((host) => `https://${fill(host, connection.fields)}`);
  return { origins: urls.map((url) => new URL(url).origin), operatorOrigin: undefined };
}

function basicHeader(
  basic: readonly [user: string, password: string],
  values: Readonly<Record<string, string>>,
): string {
  const pair = basic.map((pattern) => fill(pattern, values)).join(":");
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

function fillAll(
  patterns: Readonly<Record<string, string>> | undefined,
  values: Credentials,
  nameOf: (name: string) => string = (name) => name,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(patterns ?? {}).map(([name, pattern]) => [nameOf(name), fill(pattern, values)]),
  );
}

function lowerCase(name: string): string {
  return name.toLowerCase();
}
