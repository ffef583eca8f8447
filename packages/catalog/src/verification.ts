import { finishRequest } from "./build-request.ts";
import type { ProviderRequest } from "./build-request.ts";
import { fill } from "./fill-pattern.ts";
import { isRecord, readPath } from "./json-path.ts";
import { loginOf } from "./login.ts";
import type { ConnectionAccess, ProviderAnswer, ProviderManifest } from "./provider-manifest.ts";
import { findFailure } from "./read-answer.ts";

/** What a provider's answer says of credentials. */
export type Verdict =
  /** With what the answer tells of the account. */
  | { is: "good"; accountId: string | null; fields: Record<string, string> }
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
  return isRecord(error) ? { ...answer, status: 400, body: error } : answer;
}

function accountIn(provider: ProviderManifest, body: unknown) {
  const { accountId, fields = {} } = provider.verify ?? {};
  const found = Object.entries(fields).flatMap(([name, path]) => {
    const text = toText(readPath(body, path));
    return text === null ? [] : [[name, text] as const];
  });
  return {
    accountId: accountId === undefined ? null : toText(readPath(body, accountId)),
    fields: Object.fromEntries(found),
  };
}

function toText(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}
