import { readPath } from "./json-path.ts";
import type {
  ActionManifest,
  JsonPath,
  ProviderAnswer,
  ProviderManifest,
} from "./provider-manifest.ts";

/** A provider's failure, in the provider's words. */
export interface ProviderFailure {
  status: number;
  /** The provider's code; null where it gives none. */
  code: string | null;
  message: string;
  /** The provider refused the credentials: the connection is in error. */
  badCredentials: boolean;
  /** The account needs a new authorization: the connection is expired. */
  expired: boolean;
  /** A refusal despite valid credentials: a used-up quota, or a missing permission. */
  refusal: "exhausted" | "permission" | null;
  /** The rate limit was exceeded. */
  limited: boolean;
  /** The time from which calls are accepted again; null where the answer names none. */
  retryAfterMs: number | null;
  /** A later attempt may succeed. */
  retryable: boolean;
}

/** Longer waits count as a day: a far time is a mistake, and a date cannot hold any number. */
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1000;

const RETRYABLE_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The output of a successful action. */
export function readOutput(
  action: ActionManifest,
  answer: ProviderAnswer,
  inputs: Readonly<Record<string, unknown>>,
): unknown {
  const { read, pick = "", member } = action.answer ?? {};
  if (read !== undefined) return read(answer, inputs);
  const picked = readPath(answer.body, pick) ?? null;
  return member === undefined ? picked : { [member]: picked };
}

/**
 * The failure that an answer describes; null for a success.
 *
 * @param nowMs the current time, for headers that name a time
 */
export function findFailure(
  provider: ProviderManifest,
  answer: ProviderAnswer,
  nowMs: number,
): ProviderFailure | null {
  const { errors } = provider;
  const isOk = answer.status >= 200 && answer.status < 300;
  if (isOk && !saysItFailed(errors.failedWhen, answer.body)) return null;
  const code = firstText(answer.body, errors.code);
  const isAmong = (codes: readonly string[] | undefined) =>
    code !== null && codes?.includes(code) === true;
  const message = firstText(answer.body, errors.message);
  const refusal = refusalOf(provider, code, message);
  const exhausted = refusal === "exhausted";
  const limited = !exhausted && isLimited(provider, answer, code);
  const expired = !limited && isAmong(errors.expiredCodes);
  const refused = answer.status === 401 || isAmong(errors.credentialCodes);
  return {
    status: answer.status,
    code,
    message: message ?? `The provider answered ${answer.status}.`,
    badCredentials: expired || (!limited && refused && refusal === null),
    expired,
    refusal,
    limited,
    retryAfterMs: retryAfterMs(provider, answer, { code, limited, nowMs }),
    retryable: limited || (!exhausted && mayPass(errors, answer.status, code)),
  };
}

/** The refusal that the code means, or the message where the provider has no code. */
function refusalOf(
  { errors, rateLimit }: ProviderManifest,
  code: string | null,
  message: string | null,
): ProviderFailure["refusal"] {
  if (code !== null && rateLimit?.exhaustedCodes?.includes(code) === true) return "exhausted";
  if (code !== null && errors.permissionCodes?.includes(code) === true) return "permission";
  const entries = Object.entries(errors.messages ?? {});
  return entries.find(([beginning]) => beginsWith(message ?? "", beginning))?.[1] ?? null;
}

/** A full stop or a further sentence does not change the meaning of a message. */
function beginsWith(message: string, beginning: string): boolean {
  const words = message.trim().toLowerCase();
  const next = words.charAt(beginning.length);
  return words.startsWith(beginning.toLowerCase()) && !/[\p{L}\p{N}]/u.test(next);
}

function mayPass(
  { retryableCodes, finalCodes }: ProviderManifest["errors"],
  status: number,
  code: string | null,
): boolean {
  if (code !== null && finalCodes?.includes(code) === true) return false;
  if (code !== null && retryableCodes?.includes(code) === true) return true;
  return RETRYABLE_STATUSES.has(status);
}

function saysItFailed(
  failedWhen: ProviderManifest["errors"]["failedWhen"],
  body: unknown,
): boolean {
  if (failedWhen === undefined) return false;
  const value = readPath(body, failedWhen.path);
  return failedWhen.exists === true
    ? value !== undefined && value !== null
    : value === failedWhen.equals;
}

function isLimited(
  { rateLimit }: ProviderManifest,
  { status, headers }: ProviderAnswer,
  code: string | null,
): boolean {
  if (code !== null && rateLimit?.objectCodes?.includes(code) === true) return false;
  if (status === 429) return true;
  if (code !== null && rateLimit?.codes?.includes(code) === true) return true;
  if (rateLimit?.statuses?.includes(status) !== true) return false;
  const { remainingHeader } = rateLimit;
  const isSpent = remainingHeader !== undefined && headers[remainingHeader.toLowerCase()] === "0";
  return isSpent || headers["retry-after"] !== undefined;
}

function retryAfterMs(
  { rateLimit }: ProviderManifest,
  { headers }: ProviderAnswer,
  { code, limited, nowMs }: { code: string | null; limited: boolean; nowMs: number },
): number | null {
  const retryAfter = headers["retry-after"];
  if (retryAfter !== undefined) {
    const seconds = Number(retryAfter);
    const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(retryAfter) - nowMs;
    if (Number.isFinite(waitMs)) return Math.min(Math.max(0, waitMs), RETRY_AFTER_MS_MAX);
  }
  const codeWaits = rateLimit?.codeWaitsMs ?? {};
  const codeWaitMs = code !== null && Object.hasOwn(codeWaits, code) ? codeWaits[code] : undefined;
  if (codeWaitMs !== undefined) return codeWaitMs;
  if (!limited) return null;
  return untilResetMs(rateLimit, headers, nowMs) ?? rateLimit?.waitMs ?? null;
}

/** Providers send the reset with every answer. The reset counts when no calls remain until then. */
function untilResetMs(
  rateLimit: ProviderManifest["rateLimit"],
  headers: ProviderAnswer["headers"],
  nowMs: number,
): number | null {
  const { resetHeader: reset, remainingHeader } = rateLimit ?? {};
  const remaining = remainingHeader && headers[remainingHeader.toLowerCase()];
  if (reset === undefined || Number(remaining ?? 0) > 0) return null;
  const value = Number(headers[reset.name.toLowerCase()] ?? NaN);
  if (!Number.isFinite(value)) return null;
  const waitMs =
    reset.unit === "seconds"
      ? value * 1000
      : (reset.unit === "epochSeconds" ? value * 1000 : value) - nowMs;
  return Math.min(Math.max(0, waitMs), RETRY_AFTER_MS_MAX);
}

function firstText(body: unknown, paths: readonly JsonPath[]): string | null {
  for (const path of paths) {
    const value = readPath(body, path);
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "number") return String(value);
  }
  return null;
}
