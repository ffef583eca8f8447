import { isJsonObject } from "@workflow/json";
import { finishRequest } from "./build-request.ts";
import type { ProviderRequest } from "./build-request.ts";
import { fill } from "./fill-pattern.ts";
import { readPath } from "./json-path.ts";
import { loginOf } from "./login.ts";
import type { ConnectionAccess, ProviderAnswer, ProviderManifest } from "./provider-manifest.ts";
import { findFailure } from "./read-answer.ts";

/** What a provider's answer says of credentials. */
export type Verdict =
  /** With what the answer tells of the account. */
  | {
      is: "good";
      accountId: string | null;
      fields: Record<string, string>;
      /** Proven domains of the account, in lower case; undefined where the provider tells none. */
      domains?: readonly string[] | undefined;
    }
  /** With the provider's words, which may repeat what was sent. */
  | { is: "bad"; code: string | null; message: string }
  /** It can't or won't say at the moment. */
  | { is: "unknown"; code: string | null; message: string };

const BAD_STATUSES: readonly number[] = [401, 403];

/**
 * The request that is only answered well when the credentials are good; null for a provider that has
 * nothing to ask.
 *
 * @param baseUrl replaces the provider's
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

/** What the answer to that request says. */
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
  // The login has proven the keys; they may lack the right to read what was asked for.
  const isRefusal = status >= 400 && status < 500;
  if (isRefusal && loginOf(provider) !== undefined) {
    return { is: "good", accountId: null, fields: {} };
  }
  return { is: "unknown", code, message };
}

/** The error about the account that a good answer holds, as an answer of its own. */
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
 * Whether a good verdict proves that an account is the one that a caller names: by its id, by a domain of
 * the account or an address in one.
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
