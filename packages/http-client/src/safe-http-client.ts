import { Agent } from "undici";

import { decodeBody } from "./decode-body.ts";
import { exchange } from "./exchange.ts";
import type { HopRequest, HopResponse } from "./exchange.ts";
import { createGuardedConnector, resolveBySystem } from "./guarded-connector.ts";
import type { Resolve } from "./guarded-connector.ts";
import { HttpClientError, withSent } from "./http-client-error.ts";
import { findNextHop } from "./redirects.ts";
import { prepareHeaders, prepareMethod } from "./request-headers.ts";
import { parseTarget } from "./target-url.ts";
import type { TargetPolicy } from "./target-url.ts";

/** How a client behaves for all of its requests. */
export interface SafeHttpClientOptions {
  /** Also http, and private, loopback and other non-public addresses: development and tests. */
  allowPrivate: boolean;
  /** Sent unless the request has its own; default "workflow-service". */
  userAgent?: string;
  /** Name resolution, TCP and TLS of one connection together; default 10 000. */
  connectTimeoutMs?: number;
  /** Requests beyond wait for a free connection, within their own timeout; default 256. */
  maxConnectionsPerOrigin?: number;
  /** Replaces the system's name resolution; every answer is still judged. For tests, custom DNS. */
  resolve?: Resolve;
  /** PEM certificates to trust instead of the bundled roots. For private networks and tests. */
  ca?: string;
}

/** One request. */
export interface SafeRequest {
  /** Any but CONNECT and TRACE; sent in upper case. */
  method: string;
  /** Absolute; without user name and password. A fragment is ignored. */
  url: string;
  /** Each name once; none of those that frame the message (content-length, host, connection, …). */
  headers?: Record<string, string>;
  /** A string is sent as UTF-8. */
  body?: string | Buffer;
  /** The whole exchange: waiting, connecting, redirects, the response's last byte. 1 … 2^31-1. */
  timeoutMs: number;
  /** Limit of the response body, both as received and as decoded. */
  maxResponseBytes: number;
  /** Limit of the request body; none by default. */
  maxRequestBytes?: number;
  /** How many redirects to follow; with 0, the default, a redirect is returned as it is. */
  followRedirects?: number;
}

/** One response, of any status. */
export interface SafeResponse {
  status: number;
  /** Names in lower case; a list where the server sent a header several times. Latin-1. */
  headers: Record<string, string | string[]>;
  /** Decoded from gzip, deflate and br; `content-encoding` is then no longer among the headers. */
  body: Buffer;
  /** The URL that answered, after redirects. */
  url: string;
  /** From the call to the last byte, in whole milliseconds. */
  durationMs: number;
}

/** A pool of connections to hosts that tenants name. */
export interface SafeHttpClient extends AsyncDisposable {
  /**
   * Makes one request; a response of any status is a success.
   *
   * @throws HttpClientError and nothing else
   */
  request(options: SafeRequest, signal?: AbortSignal): Promise<SafeResponse>;
  /** Refuses new requests, waits for those under way and closes the connections. */
  close(): Promise<void>;
}

/** 2^31-1: a timer set beyond fires at once. */
const TIMEOUT_MS_MAX = 2_147_483_647;

/** Within the time to live that most DNS records have. */
const CONNECTION_AGE_MS_MAX = 60_000;

/** Makes a client; one per process is right. */
export function createSafeHttpClient(options: SafeHttpClientOptions): SafeHttpClient {
  const { allowPrivate, userAgent = "workflow-service" } = options;
  const policy: TargetPolicy = { allowPrivate };
  const agent = new Agent({
    connect: createGuardedConnector({
      allowPrivate,
      resolve: options.resolve ?? resolveBySystem,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      ca: options.ca,
    }),
    connections: options.maxConnectionsPerOrigin ?? 256,
    // Busy or idle, a connection is replaced after this time: a name is resolved and judged again.
    clientTtl: CONNECTION_AGE_MS_MAX,
    keepAliveMaxTimeout: CONNECTION_AGE_MS_MAX,
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= agent.close());

  return {
    async request(request, signal) {
      const startedAt = performance.now();
      const first = prepare(request, policy, userAgent);
      const { hop, response } = await withDeadline(request.timeoutMs, signal, (stop) =>
        followRedirects(agent, first, request, policy, stop),
      );
      const decoded = await decodeBody(response.headers, response.body, request.maxResponseBytes);
      return {
        status: response.status,
        headers: decoded.headers,
        body: decoded.body,
        url: hop.url.href,
        durationMs: Math.round(performance.now() - startedAt),
      };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function prepare(request: SafeRequest, policy: TargetPolicy, userAgent: string): HopRequest {
  assertInteger("timeoutMs", request.timeoutMs, 1, TIMEOUT_MS_MAX);
  assertInteger("maxResponseBytes", request.maxResponseBytes, 0);
  assertInteger("followRedirects", request.followRedirects ?? 0, 0);
  return {
    method: prepareMethod(request.method),
    url: parseTarget(request.url, policy),
    headers: prepareHeaders(request.headers ?? {}, userAgent),
    body: prepareBody(request.body, request.maxRequestBytes ?? Infinity),
  };
}

function prepareBody(body: string | Buffer | undefined, bytesMax: number): Buffer | undefined {
  if (body === undefined) return undefined;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.length <= bytesMax) return bytes;
  const message = `The request body is larger than ${bytesMax} bytes.`;
  throw new HttpClientError("INVALID_REQUEST", message);
}

function assertInteger(name: string, value: number, min: number, max = Infinity): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const range = max === Infinity ? `at least ${min}` : `between ${min} and ${max}`;
  throw new HttpClientError("INVALID_REQUEST", `${name} must be a whole number, ${range}.`);
}

/** Runs work that is stopped when the time is up or the caller gives up, whichever is first. */
async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const timer = setTimeout(() => {
    stop.abort(new HttpClientError("TIMEOUT", `No complete response within ${timeoutMs} ms.`));
  }, timeoutMs);
  const onAbort = (): void => {
    const options = { cause: signal?.reason };
    stop.abort(new HttpClientError("ABORTED", "The request was aborted by its caller.", options));
  };
  // Not AbortSignal.any: a long-lived signal would keep an entry for each request ever made.
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    return await work(stop.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

async function followRedirects(
  agent: Agent,
  first: HopRequest,
  request: SafeRequest,
  policy: TargetPolicy,
  stop: AbortSignal,
): Promise<{ hop: HopRequest; response: HopResponse }> {
  const limit = request.followRedirects ?? 0;
  let hop = first;
  let answered = false;
  for (let followed = 0; ; followed += 1) {
    try {
      const response = await exchange(agent, hop, request.maxResponseBytes, stop);
      answered = true;
      const next = limit === 0 ? null : findNextHop(hop, response, policy);
      if (next === null) return { hop, response };
      if (followed === limit) throw tooManyRedirects(limit);
      hop = next;
    } catch (error) {
      // Once a server has answered, nothing that fails later can undo that a request was sent.
      throw answered && error instanceof HttpClientError ? withSent(error, true) : error;
    }
  }
}

function tooManyRedirects(limit: number): HttpClientError {
  const message = `The server redirected more than ${limit} times.`;
  return new HttpClientError("TOO_MANY_REDIRECTS", message, { sent: true });
}
