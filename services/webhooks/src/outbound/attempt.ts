import { HttpClientError } from "@workflow/http-client";
import type { SafeHttpClient, SafeResponse } from "@workflow/http-client";
import { createScrubber } from "@workflow/scrubber";
import { DIGEST_CHARS_MIN, sentDigests, signatureHeaders } from "./signatures.ts";
import type { SignedMessage, SigningSecrets } from "./signatures.ts";

/** The receiver of a delivery, and the headers for it. */
export interface DeliveryTarget extends SigningSecrets {
  companyId: string;
  /** W3C trace context of the attempt, where its trace is recorded. */
  traceparent?: string | undefined;
  url: string;
  /** The endpoint's own headers, sent with each delivery. */
  headers: Readonly<Record<string, string>>;
}

/** The outcome of one attempt. */
export interface AttemptOutcome {
  /** When the attempt began. */
  at: Date;
  /** The status of the answer; null when there was none. */
  statusCode: number | null;
  /** The reason for a failure, for people; null after a success. */
  error: string | null;
  /** The length of the attempt in milliseconds. */
  durationMs: number;
  /** The beginning of the answer's body as text, at most 4 KiB; null when there was no answer. */
  responseBody: string | null;
  /** The pause that the receiver asked for (429 and 503); null when it did not. */
  retryAfterMs: number | null;
}

/** The limit of a whole attempt: connecting, sending, and the answer to its last byte (D46). */
const TIMEOUT_MS = 15_000;
/**
 * A longer answer is cut and its connection closed, so a receiver that sends gigabytes delivers only
 * some kilobytes.
 */
const ANSWER_BYTES_MAX = 16 * 1024;
const KEPT_BYTES = 4 * 1024;
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1_000;
const USER_AGENT = "workflow-webhooks/1";

/**
 * Sends a delivery once. It never throws, because errors of the receiver are outcomes.
 *
 * @param signal aborts the attempt; the outcome then says nothing about the receiver
 */
export async function attemptDelivery(
  http: SafeHttpClient,
  target: DeliveryTarget,
  message: SignedMessage,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const at = new Date();
  const startedAt = performance.now();
  const sent = deliveryHeaders(target, message, at);
  const answer = await post(http, target, { headers: sent, body: message.body }, signal);
  const durationMs = Math.round(performance.now() - startedAt);
  if (answer instanceof HttpClientError) {
    const error = answer.message;
    return { at, statusCode: null, error, durationMs, responseBody: null, retryAfterMs: null };
  }
  const { status, headers, body } = answer;
  return {
    at,
    statusCode: status,
    error: status >= 200 && status < 300 ? null : failureText(status),
    durationMs,
    responseBody: responseText(body, target, sent),
    retryAfterMs: retryAfterMs(status, headers["retry-after"], at),
  };
}

/**
 * The headers as they are sent. The endpoint's own come last; they may replace User-Agent and Accept-Encoding, but
 * none of the others (D50).
 */
export function deliveryHeaders(
  target: DeliveryTarget,
  message: SignedMessage,
  at: Date,
): Record<string, string> {
  const fixed = {
    "Content-Type": "application/json",
    // The answer is stored as it arrives, for people to read.
    "Accept-Encoding": "identity",
    "User-Agent": USER_AGENT,
    ...signatureHeaders(target, message, at),
  };
  const own = new Set(Object.keys(target.headers).map((name) => name.toLowerCase()));
  const kept = Object.entries(fixed).filter(
    ([name]) => !own.has(name.toLowerCase()) || !REPLACEABLE.has(name),
  );
  return { ...Object.fromEntries(kept), ...target.headers };
}

const REPLACEABLE: ReadonlySet<string> = new Set(["Accept-Encoding", "User-Agent"]);

async function post(
  http: SafeHttpClient,
  target: DeliveryTarget,
  sent: { headers: Record<string, string>; body: Buffer },
  signal: AbortSignal,
): Promise<SafeResponse | HttpClientError> {
  try {
    return await http.forTenant(target.companyId, target.traceparent).request(
      {
        method: "POST",
        url: target.url,
        ...sent,
        timeoutMs: TIMEOUT_MS,
        maxResponseBytes: ANSWER_BYTES_MAX,
        cutsResponse: true,
        // A delivery has an id, and receivers must expect repeats anyway.
        isRepeatable: true,
      },
      signal,
    );
  } catch (error) {
    if (error instanceof HttpClientError) return error;
    throw error;
  }
}

function failureText(status: number): string {
  const isRedirect = status >= 300 && status < 400;
  return isRedirect
    ? `The receiver answered ${status}; redirects are not followed.`
    : `The receiver answered ${status}.`;
}

/** Receivers may answer with what they got. Secrets, signatures and headers of the endpoint are removed. */
function responseText(
  body: Buffer,
  target: DeliveryTarget,
  sent: Readonly<Record<string, string>>,
): string {
  if (body.length === 0) return "";
  const text = body.toString("utf8").replaceAll("\0", "\uFFFD");
  const { secret, oldSecret } = target;
  const secrets = [secret, ...(oldSecret === null ? [] : [oldSecret])];
  // Most answers are too short for a digest, and the search costs time.
  const digests = text.length < DIGEST_CHARS_MIN ? [] : sentDigests(sent);
  const scrubber = createScrubber([...secrets, ...digests, ...Object.values(target.headers)]);
  const clean = scrubber === null ? text : scrubber.cutText(text, KEPT_BYTES);
  return cutToBytes(clean);
}

/** Cuts at a whole character. */
function cutToBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= KEPT_BYTES) return text;
  let end = KEPT_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(
  status: number,
  header: string | string[] | undefined,
  now: Date,
): number | null {
  if ((status !== 429 && status !== 503) || typeof header !== "string") return null;
  const seconds = /^\d{1,10}$/.test(header.trim()) ? Number(header.trim()) : null;
  const ms = seconds === null ? Date.parse(header) - now.getTime() : seconds * 1_000;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, RETRY_AFTER_MS_MAX) : null;
}
