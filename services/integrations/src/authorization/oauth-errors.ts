import type { ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import * as oauth from "openid-client";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";
import { callErrorIn } from "./token-exchange.ts";

/** Codes of errors that may pass, whatever the status (RFC 6749, 4.1.2.1; RFC 8628, 3.5; Slack's names). */
const TRANSIENT: ReadonlySet<string> = new Set([
  "temporarily_unavailable",
  "server_error",
  "slow_down",
  "ratelimited",
  "rate_limited",
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout",
]);

/** Statuses of a server without such a path: the configured base URL is wrong. */
const NO_SUCH_ADDRESS: readonly number[] = [404, 405, 410];

/** The refusal that an authorization server's error code means. */
export function refusalOf(
  name: string,
  said: string,
  options: ErrorOptions = {},
): AuthorizationRefusedError | AppError {
  const code = CODE.test(said) ? said : "refused";
  if (TRANSIENT.has(code)) return unreachable(name, `It answered ${code}.`, options.cause);
  return new AuthorizationRefusedError(`${name} refused it: ${code}.`, code, options);
}

/** The form of a code that may be shown and passed on: letters, digits and a few signs. */
const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/**
 * The error between the embedded client and a provider: an AuthorizationRefusedError, or an AppError
 * UPSTREAM_ERROR when a later try may succeed. The message has the provider's code and none of its
 * text, which may repeat what was sent.
 */
export function explainOAuthError(
  { name }: ProviderManifest,
  error: unknown,
): AuthorizationRefusedError | AppError {
  const call = callErrorIn(error);
  if (call !== null) return unreachable(name, call.message, error);
  if (error instanceof oauth.ResponseBodyError) {
    const { error: said, status } = error;
    if (status >= 500 || status === 429) {
      return unreachable(name, `The provider answered ${status}.`, error);
    }
    if (NO_SUCH_ADDRESS.includes(status)) {
      return unreachable(name, `It has no such address: it answered ${status}.`, error);
    }
    return refusalOf(name, said, { cause: error });
  }
  if (error instanceof oauth.AuthorizationResponseError) {
    const code = CODE.test(error.error) ? error.error : "refused";
    return new AuthorizationRefusedError(`${name} refused it: ${code}.`, code, { cause: error });
  }
  if (error instanceof oauth.ClientError) return explainClientError(name, error);
  if (error instanceof AppError) return error;
  return unreachable(name, "Its answer cannot be read.", error);
}

function explainClientError(
  name: string,
  error: oauth.ClientError,
): AuthorizationRefusedError | AppError {
  // A parameter of the callback does not fit: another state, another issuer, or no code.
  if (error.code === "OAUTH_INVALID_RESPONSE" && error.cause instanceof Error) {
    const cause = error.cause.cause;
    if (typeof cause === "object" && cause !== null && "parameters" in cause) {
      const text = "What came back does not belong to this attempt.";
      return new AuthorizationRefusedError(text, "invalid_response", { cause: error });
    }
  }
  if (isStatus(error, 500)) return unreachable(name, "It answered with a server error.", error);
  return unreachable(name, "Its answer is not one of OAuth 2.", error);
}

function isStatus(error: oauth.ClientError, least: number): boolean {
  return error.cause instanceof Response && error.cause.status >= least;
}

function unreachable(name: string, why: string, cause: unknown): AppError {
  return new AppError("UPSTREAM_ERROR", `${name} cannot be asked at the moment. ${why}`, { cause });
}
