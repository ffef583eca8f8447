import { isJsonObject } from "@workflow/json";
import { finishRequest } from "./build-request.ts";
import type { ProviderRequest } from "./build-request.ts";
import { fill } from "./fill-pattern.ts";
import { readPath } from "./json-path.ts";
import { loginOf } from "./login.ts";
import type { ConnectionAccess, ProviderAnswer, ProviderManifest } from "./provider-manifest.ts";
import { findFailure } from "./read-answer.ts";

/** A provider's verdict on credentials. */
export type Verdict =
  /** Valid credentials, and the facts of the answer about the account. */
  | {
      is: "good";
      accountId: string | null;
      fields: Record<string, string>;
      /** The account's proven domains, in lower case; undefined where the provider names none. */
      domains?: readonly string[] | undefined;
    }
  /** Refused credentials, with the provider's words, which may repeat the request. */
  | { is: "bad"; code: string | null; message: string }
  /** The provider gives no verdict at the moment. */
  | { is: "unknown"; code: string | null; message: string };

const BAD_STATUSES: readonly number[] = [401, 403];

/**
 * The request that succeeds only with valid credentials; null for a provider without such a request.
 *
 * @param baseUrl replaces the provider's base URL
 * @throws MissingFieldError when the connection lacks a field or a credential
 */
export function buildVerification(
  provider: ProviderManifest,
  access: ConnectionAccess,
  baseUrl?: string,
): ProviderRequest | null {
  const { verify } = provider;
  if (verify === undefined) return null;
  const parts = {
    method: verify.method,
    path: fill(verify.path, access.fields, encodeURIComponent),
    query: {},
    headers: { ...verify.headers },
    body: verify.body,
  };
  return finishRequest(provider, {}, parts, { access, baseUrl });
}

/** Reads the verdict from the answer to that request. */
export function judgeVerification(
  provider: ProviderManifest,
  answer: ProviderAnswer,
  nowMs: number,
): Verdict {
  const { verify } = provider;
  const failure = findFailure(provider, errorWithin(provider, answer), nowMs);
  if (failure === null) {
    const { badWhen } = verify ?? {};
    if (badWhen !== undefined && readPath(answer.body, badWhen.path) === badWhen.equals) {
      return { is: "bad", code: null, message: "The provider does not accept the credentials." };
    }
    return { is: "good", ...accountIn(provider, answer.body) };
  }
  const { code, message, status } = failure;
  if (failure.badCredentials) return { is: "bad", code, message };
  if (failure.refusal === "permission") return { is: "good", accountId: null, fields: {} };
  if (failure.limited || failure.retryable || failure.refusal === "exhausted")
    return { is: "unknown", code, message };
  const badStatuses = verify?.badStatuses ?? BAD_STATUSES;
  if (badStatuses.includes(status)) return { is: "bad", code, message };
  // The login has proven the keys. A key may still lack the permission for this request.
  const isRefusal = status >= 400 && status < 500;
  if (isRefusal && loginOf(provider) !== undefined) {
    return { is: "good", accountId: null, fields: {} };
  }
  return { is: "unknown", code, message };
}

/** The error about the account inside a successful answer, as an answer of its own. */
function errorWithin({ verify }: ProviderManifest, answer: ProviderAnswer): ProviderAnswer {
  const error = verify?.errorIn === undefined ? null : readPath(answer.body, verify.errorIn);
  return isJsonObject(error) ? { ...answer, status: 400, body: error } : answer;
}

function accountIn(provider: ProviderManifest, body: unknown) {
  const { accountId, fields = {} } = provider.verify ?? {};
  const found = Object.entries(fields).flatMap(([name, path]) => {
    const text = toText(readPath(body, path));
    return text === null ? [] : [[name, text] as const];
  });
  const domains = domainsIn(provider, body);
  const [only = null, ...others] = domains ?? [];
  const said = accountId === undefined ? null : toText(readPath(body, accountId));
  return {
    accountId: said ?? (others.length === 0 ? only : null),
    fields: Object.fromEntries(found),
    ...(domains === undefined ? {} : { domains }),
  };
}

function domainsIn({ verify }: ProviderManifest, body: unknown): string[] | undefined {
  const { domains } = verify ?? {};
  if (domains === undefined) return undefined;
  const items = readPath(body, domains.items);
  if (!Array.isArray(items)) return [];
  const { path, equals } = domains.provenWhen;
  return items.flatMap((item) => {
    const name = toText(readPath(item, domains.name));
    return name !== null && readPath(item, path) === equals ? [name.toLowerCase()] : [];
  });
}

/**
 * Whether a valid verdict proves the account that a caller names. The proof is the account's id, one of its
 * domains or an address in one.
 */
export function provesAccount(
  { accountId, domains = [] }: Extract<Verdict, { is: "good" }>,
  claimed: string,
): boolean {
  const domain = claimed.slice(claimed.lastIndexOf("@") + 1).toLowerCase();
  return claimed === accountId || domains.includes(domain);
}

function toText(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}
