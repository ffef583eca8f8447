import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";

/** The company and the provider of requests to an authorization server. */
export interface TokenCaller {
  companyId: string;
  /** The id of the provider's manifest. */
  provider: string;
}

const METHODS = ["GET", "POST", "DELETE"] as const;

/** Ample, because a token answer has some hundred bytes. */
const ANSWER_BYTES_MAX = 256 * 1024;

/** The options of openid-client's custom `fetch`, and of requests of manifests. */
interface FetchOptions {
  method: string;
  headers: Record<string, string>;
  /** A form, or JSON text, or nothing. */
  body?: unknown;
}

/**
 * Sends openid-client's requests through the provider client. It converts providers' own answers into
 * the form of RFC 6749: errors of status 200, and token types that mean "bearer".
 */
export function createTokenFetch(
  http: ProviderHttp,
  caller: TokenCaller,
): (url: string, options: FetchOptions) => Promise<Response> {
  return async (url, { method, headers, body }) => {
    const isText = body instanceof URLSearchParams || typeof body === "string";
    const text = isText ? body.toString() : undefined;
    const answer = await http.sendProviderRequest(
      { method: METHODS.find((each) => each === method) ?? "POST", url, headers, body: text },
      { ...caller, bytesMax: ANSWER_BYTES_MAX },
    );
    const { status, body: json } = conform(answer.status, answer.body);
    return new Response(JSON.stringify(json), {
      status,
      headers: { "content-type": "application/json" },
    });
  };
}

/** The error that openid-client has wrapped; null when an answer was read. */
export function callErrorIn(error: unknown): ProviderCallError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderCallError) return cause;
  }
  return null;
}

function conform(status: number, body: unknown): { status: number; body: unknown } {
  // An empty answer suffices for a revocation, and contains no token for other requests.
  if (typeof body !== "object" || body === null) {
    return { status: status === 204 ? 200 : status, body: {} };
  }
  // The person's identity does not matter here, and not every provider's ID tokens can be checked.
  const { id_token: _identity, ...rest } = { id_token: null, ...body };
  const answer: Record<string, unknown> = rest;
  const error = answer["error"];
  if (typeof error === "string") return { status: status < 400 ? 400 : status, body: answer };
  // Slack calls its bearer tokens "bot" and "user", and HubSpot omits the type.
  if (answer["access_token"] !== undefined) answer["token_type"] = "bearer";
  return { status: status === 201 ? 200 : status, body: answer };
}
