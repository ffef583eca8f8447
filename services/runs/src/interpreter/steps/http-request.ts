import { HttpClientError } from "@workflow/http-client";
import type { HttpClientErrorCode, HttpRequester, SafeResponse } from "@workflow/http-client";
import { ENTRIES_MAX, findOversized, HTTP_METHODS } from "@workflow/definition";
import { z } from "zod";
import { nestsTooDeep } from "../../domain/json-nesting.ts";
import { Excerpt, StepError } from "../../domain/step-error.ts";
import type { SendGuard } from "../../secrets/bound-secrets.ts";
import type { RequestAuthorization } from "../effects/provider-client.ts";
import type { TakeRoom } from "../execution.ts";

const TIMEOUT_MS_DEFAULT = 30_000;
const TIMEOUT_MS_MAX = 600_000;
/** A step result may have 4 MiB of JSON (D4). A body takes at least its own size in it. */
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;
const REDIRECTS_MAX = 10;
const BODY_EXCERPT_CHARS = 500;
/** Most problems with the inputs that an error lists. */
const PROBLEMS_MAX = 20;
const TOO_MANY_ENTRIES = `has more than ${ENTRIES_MAX} entries`;
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1000;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const successStatus = z.union([z.int().min(100).max(599), z.string().regex(/^[1-5]xx$/)]);

/**
 * The inputs after their templates were resolved (D17). Null means not given, as when a workflow is
 * saved.
 */
const resolvedInputs = z.object({
  method: z.enum(HTTP_METHODS),
  url: z.string(),
  headers: z.record(z.string(), scalar).nullish(),
  query: z.record(z.string(), z.union([scalar, z.array(scalar)])).nullish(),
  body: z.unknown().optional(),
  auth: z
    .discriminatedUnion("type", [
      z.object({ type: z.literal("none") }),
      z.object({ type: z.literal("bearer"), token: z.string().min(1) }),
      z.object({ type: z.literal("basic"), username: z.string(), password: z.string() }),
      z.object({
        type: z.literal("connection"),
        connectionId: z.string().nullish(),
        provider: z.string().nullish(),
      }),
    ])
    .nullish(),
  timeoutMs: z.number().int().min(1).max(TIMEOUT_MS_MAX).nullish(),
  successStatuses: z.array(successStatus).min(1, "must have at least 1 item").nullish(),
  followRedirects: z.number().int().min(0).max(REDIRECTS_MAX).nullish(),
});

/** The inputs of a request, checked. */
export type HttpInputs = z.infer<typeof resolvedInputs>;

/** The step's output: the response's status, headers in lower case and body. */
export interface HttpOutput {
  status: number;
  headers: Record<string, string | string[]>;
  /**
   * Parsed when the response says that it is JSON and it is. Text when it is not, or nests too deep.
   * Base64 for anything binary.
   */
  body: unknown;
  bodyEncoding?: "base64";
}

/** The parts of one attempt of a request. */
export interface HttpAttempt {
  /** Must agree to the content and the address of each request; null when nothing has to be guarded. */
  guard: SendGuard | null;
  /** Sent as `Idempotency-Key` unless the step sets that header itself. */
  key: string;
  /** Counts the bytes of the answer. */
  takeRoom: TakeRoom;
  /** The connection's part; null for a request without a connection. */
  connection?: ConnectionPart | null;
}

/** A connection's part in a request. */
export interface ConnectionPart {
  authorization: RequestAuthorization;
  /** Refuses a hop that is not at the provider's hosts. */
  assertHost: (url: URL) => void;
  /** Called with the answer, whatever its status. */
  onAnswer: (response: SafeResponse) => void;
}

/**
 * Makes the request of an `http.request` action.
 *
 * @throws StepError
 */
export async function requestHttp(
  client: HttpRequester,
  inputs: HttpInputs,
  { guard, key, takeRoom, connection = null }: HttpAttempt,
  signal: AbortSignal,
): Promise<HttpOutput> {
  const signed = connection?.authorization ?? UNSIGNED;
  const { headers, body } = requestContent(inputs, key, signed);
  const url = urlWithQuery(inputs, signed.query);
  guard?.assertMayName(URL.parse(url));
  let response: SafeResponse;
  try {
    response = await client.request(
      {
        method: inputs.method,
        url,
        headers,
        ...(body === undefined ? {} : { body }),
        timeoutMs: inputs.timeoutMs ?? TIMEOUT_MS_DEFAULT,
        maxResponseBytes: RESPONSE_BYTES_MAX,
        followRedirects: inputs.followRedirects ?? 0,
        onData: takeRoom,
        onHop: (hop) => {
          connection?.assertHost(hop);
          guard?.assertMaySend(hop, textsOf(headers, body));
        },
      },
      signal,
    );
  } catch (error) {
    if (error instanceof HttpClientError) throw stepErrorOf(error);
    throw error;
  }
  connection?.onAnswer(response);
  const output = outputOf(response);
  if (!isSuccess(response.status, inputs.successStatuses ?? ["2xx"]))
    throw unexpectedStatus(response, output);
  return output;
}

function isSuccess(status: number, expected: readonly (number | string)[]): boolean {
  const statusClass = `${Math.floor(status / 100)}xx`;
  return expected.some((each) => each === status || each === statusClass);
}

/**
 * Checks the inputs of a request after their templates were resolved.
 *
 * @throws StepError INVALID_INPUT
 */
export function parseHttpInputs(config: unknown): HttpInputs {
  const oversized = findOversized(resolvedInputs, config);
  if (oversized !== null) throw invalidInputs([`${oversized.join(".")}: ${TOO_MANY_ENTRIES}`]);
  const parsed = resolvedInputs.safeParse(config);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, PROBLEMS_MAX);
  throw invalidInputs(issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`));
}

function invalidInputs(problems: readonly string[]): StepError {
  const message = `The request's inputs are not valid: ${problems.join("; ")}`;
  return new StepError("INVALID_INPUT", message, { retryable: false });
}

function urlWithQuery({ url, query }: HttpInputs, signature: Signature["query"]): string {
  const signing = Object.entries(signature);
  if ((query === null || query === undefined) && signing.length === 0) return url;
  const target = URL.parse(url);
  if (target === null) return url;
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null) target.searchParams.append(name, String(item));
    }
  }
  for (const [name, value] of signing) target.searchParams.set(name, value);
  return target.href;
}

type Signature = Pick<RequestAuthorization, "headers" | "defaultHeaders" | "query" | "body">;

/** The signature of a request without a connection. */
const UNSIGNED: Signature = { headers: {}, defaultHeaders: {}, query: {}, body: {} };

function requestContent(inputs: HttpInputs, idempotencyKey: string, signature: Signature) {
  const headers: Record<string, string> = { ...signature.defaultHeaders };
  for (const [name, value] of Object.entries(inputs.headers ?? {})) {
    if (value !== null) headers[name.toLowerCase()] = String(value);
  }
  headers["idempotency-key"] ??= idempotencyKey;
  if (inputs.auth?.type === "bearer") headers["authorization"] = `Bearer ${inputs.auth.token}`;
  if (inputs.auth?.type === "basic") {
    const credentials = `${inputs.auth.username}:${inputs.auth.password}`;
    headers["authorization"] = `Basic ${Buffer.from(credentials).toString("base64")}`;
  }
  Object.assign(headers, signature.headers);
  const body = signBody(inputs.body, signature.body);
  if (body === undefined || body === null) return { headers, body: undefined };
  if (typeof body === "string") {
    headers["content-type"] ??= "text/plain; charset=utf-8";
    return { headers, body };
  }
  headers["content-type"] ??= "application/json";
  return { headers, body: JSON.stringify(body) };
}

/** Adds members to a JSON body, where some providers want their credentials. */
function signBody(body: unknown, members: Signature["body"]): unknown {
  if (Object.keys(members).length === 0) return body;
  if (body === undefined || body === null) return members;
  if (typeof body === "object" && !Array.isArray(body)) return { ...body, ...members };
  throw new StepError(
    "INVALID_INPUT",
    "The provider takes credentials in the body: it must be an object.",
    {
      retryable: false,
    },
  );
}

/** The texts that are sent beside the URL. */
function textsOf(headers: Record<string, string>, body: string | undefined): string[] {
  return [...Object.entries(headers).flat(), ...(body === undefined ? [] : [body])];
}

function outputOf(response: SafeResponse): HttpOutput {
  const { status, headers } = response;
  if (response.body.length === 0) return { status, headers, body: null };
  const type = String(headers["content-type"] ?? "").toLowerCase();
  const text = decodeText(response.body);
  if (text === null) {
    return { status, headers, body: response.body.toString("base64"), bodyEncoding: "base64" };
  }
  if (/^application\/(?:[\w.+-]+\+)?json\b/.test(type)) {
    try {
      const parsed: unknown = JSON.parse(text);
      if (!nestsTooDeep(parsed)) return { status, headers, body: parsed };
    } catch {
      // A wrong content type is the receiver's affair: the output is the text that it sent.
    }
  }
  return { status, headers, body: text };
}

function decodeText(body: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return null;
  }
}

/** Statuses after which the request may have been done. They are the same as for calls of actions. */
const OPEN_STATUSES: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);

function unexpectedStatus(response: SafeResponse, output: HttpOutput): StepError {
  const retryAfterMs = parseRetryAfter(response.headers["retry-after"]);
  return new StepError("HTTP_STATUS", `The server answered with status ${response.status}.`, {
    details: { status: response.status, body: new Excerpt(output.body, BODY_EXCERPT_CHARS) },
    // The request itself is at fault: the same one would get the same answer.
    retryable: response.status >= 500 || [408, 409, 425, 429].includes(response.status),
    // A proxy in front of the receiver does not know what became of the request, so the next attempt has
    // the same key.
    answered: !OPEN_STATUSES.has(response.status),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | string[] | undefined): number | null {
  if (typeof value !== "string") return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX) : null;
}

/** Errors that would come again at any time. */
const FINAL_CODES: ReadonlySet<HttpClientErrorCode> = new Set([
  "INVALID_URL",
  "INVALID_REQUEST",
  "ADDRESS_NOT_ALLOWED",
  "RESPONSE_TOO_LARGE",
  "TOO_MANY_REDIRECTS",
  "REDIRECT_REFUSED",
]);

function stepErrorOf(error: HttpClientError): StepError {
  return new StepError(error.code, error.message, { retryable: !FINAL_CODES.has(error.code) });
}
