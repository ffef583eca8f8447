import { HttpClientError } from "@workflow/http-client";
import type { HttpClientErrorCode, SafeHttpClient, SafeResponse } from "@workflow/http-client";
import { z } from "zod";
import { nestsTooDeep } from "../../domain/json-nesting.ts";
import { StepError } from "../step-error.ts";

const TIMEOUT_MS_DEFAULT = 30_000;
const TIMEOUT_MS_MAX = 600_000;
/** A step result may have 4 MiB of JSON (D4); a body takes at least its own size in it. */
const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;
const REDIRECTS_MAX = 10;
const BODY_EXCERPT_CHARS = 500;
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1000;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const successStatus = z.union([z.int().min(100).max(599), z.string().regex(/^[1-5]xx$/)]);

/** The inputs after their templates were resolved (D17). */
const resolvedInputs = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), scalar).nullish(),
  query: z.record(z.string(), z.union([scalar, z.array(scalar)])).nullish(),
  body: z.unknown().optional(),
  auth: z
    .discriminatedUnion("type", [
      z.object({ type: z.literal("none") }),
      z.object({ type: z.literal("bearer"), token: z.string() }),
      z.object({ type: z.literal("basic"), username: z.string(), password: z.string() }),
      z.object({ type: z.literal("connection") }),
    ])
    .nullish(),
  timeoutMs: z.number().int().min(1).max(TIMEOUT_MS_MAX).nullish(),
  successStatuses: z.array(successStatus).nullish(),
  followRedirects: z.number().int().min(0).max(REDIRECTS_MAX).nullish(),
});

type Inputs = z.infer<typeof resolvedInputs>;

/** What the step returns: the response's status, headers in lower case and body. */
export interface HttpOutput {
  status: number;
  headers: Record<string, string | string[]>;
  /**
   * Parsed when the response says it is JSON and is; text when it is not, or nests too deep to be
   * worked with; base64 for anything binary.
   */
  body: unknown;
  bodyEncoding?: "base64";
}

/**
 * Makes the request of an `http.request` action.
 *
 * @param idempotencyKey sent as `Idempotency-Key` unless the step sets that header itself
 * @throws StepError
 */
export async function requestHttp(
  client: SafeHttpClient,
  config: unknown,
  idempotencyKey: string,
  signal: AbortSignal,
): Promise<HttpOutput> {
  const inputs = parseInputs(config);
  if (inputs.auth?.type === "connection") {
    const message = "Connections are not available in this installation.";
    throw new StepError("NOT_CONFIGURED", message, { retryable: false });
  }
  const { headers, body } = requestContent(inputs, idempotencyKey);
  let response: SafeResponse;
  try {
    response = await client.request(
      {
        method: inputs.method,
        url: urlWithQuery(inputs),
        headers,
        ...(body === undefined ? {} : { body }),
        timeoutMs: inputs.timeoutMs ?? TIMEOUT_MS_DEFAULT,
        maxResponseBytes: RESPONSE_BYTES_MAX,
        followRedirects: inputs.followRedirects ?? 0,
      },
      signal,
    );
  } catch (error) {
    if (error instanceof HttpClientError) throw stepErrorOf(error);
    throw error;
  }
  const output = outputOf(response);
  if (!isSuccess(response.status, inputs.successStatuses ?? ["2xx"]))
    throw unexpectedStatus(response, output);
  return output;
}

function isSuccess(status: number, expected: readonly (number | string)[]): boolean {
  const statusClass = `${Math.floor(status / 100)}xx`;
  return expected.some((each) => each === status || each === statusClass);
}

function parseInputs(config: unknown): Inputs {
  const parsed = resolvedInputs.safeParse(config);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new StepError(
    "INVALID_INPUT",
    `The request's inputs are not valid: ${problems.join("; ")}`,
    {
      retryable: false,
    },
  );
}

function urlWithQuery({ url, query }: Inputs): string {
  if (query === null || query === undefined) return url;
  let target: URL;
  try {
    target = new URL(url);
  } catch {
    throw new StepError("INVALID_URL", "The URL is not valid.", { retryable: false });
  }
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null) target.searchParams.append(name, String(item));
    }
  }
  return target.href;
}

function requestContent(inputs: Inputs, idempotencyKey: string) {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(inputs.headers ?? {})) {
    if (value !== null) headers[name.toLowerCase()] = String(value);
  }
  headers["idempotency-key"] ??= idempotencyKey;
  if (inputs.auth?.type === "bearer") headers["authorization"] = `Bearer ${inputs.auth.token}`;
  if (inputs.auth?.type === "basic") {
    const credentials = `${inputs.auth.username}:${inputs.auth.password}`;
    headers["authorization"] = `Basic ${Buffer.from(credentials).toString("base64")}`;
  }
  if (inputs.body === undefined || inputs.body === null) return { headers, body: undefined };
  if (typeof inputs.body === "string") {
    headers["content-type"] ??= "text/plain; charset=utf-8";
    return { headers, body: inputs.body };
  }
  headers["content-type"] ??= "application/json";
  return { headers, body: JSON.stringify(inputs.body) };
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
      // A wrong content type is the receiver's affair; the text is what it sent.
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

function unexpectedStatus(response: SafeResponse, output: HttpOutput): StepError {
  const retryAfterMs = parseRetryAfter(response.headers["retry-after"]);
  const body = typeof output.body === "string" ? output.body : JSON.stringify(output.body);
  return new StepError("HTTP_STATUS", `The server answered with status ${response.status}.`, {
    details: { status: response.status, body: body.slice(0, BODY_EXCERPT_CHARS) },
    // The request itself is at fault: the same one again would be answered in the same way.
    retryable: response.status >= 500 || [408, 409, 425, 429].includes(response.status),
    answered: true,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3). */
function parseRetryAfter(value: string | string[] | undefined): number | null {
  if (typeof value !== "string") return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX) : null;
}

/** Errors that would come again, whatever the time. */
const FINAL_CODES: ReadonlySet<HttpClientErrorCode> = new Set([
  "INVALID_URL",
  "INVALID_REQUEST",
  "ADDRESS_NOT_ALLOWED",
  "RESPONSE_TOO_LARGE",
  "TOO_MANY_REDIRECTS",
]);

function stepErrorOf(error: HttpClientError): StepError {
  return new StepError(error.code, error.message, { retryable: !FINAL_CODES.has(error.code) });
}
