import { TIMER_MS_MAX, Turns } from "@workflow/async";
import type { Tracer } from "@workflow/tracing";
import { createConnectionPool } from "./connection-pool.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import { decodeBody } from "./decode-body.ts";
import type { HopRequest, HopResponse } from "./exchange.ts";
import { HttpClientError, withSent } from "./http-client-error.ts";
import { createLookup } from "./lookups.ts";
import { createNameServers } from "./name-servers.ts";
import type { Resolve } from "./name-servers.ts";
import { parseNat64Prefix } from "./nat64.ts";
import { findNextHop } from "./redirects.ts";
import { prepareHeaders, prepareMethod } from "./request-headers.ts";
import { parseTarget } from "./target-url.ts";
import type { HttpRequester, SafeRequest } from "./safe-request.ts";
import type { TargetPolicy } from "./target-url.ts";
import { createTenantPools } from "./tenant-pools.ts";
import type { TenantPools } from "./tenant-pools.ts";
import { tracedRequester } from "./traced-requester.ts";
import { toHttpClientError } from "./transport-errors.ts";

/** The options of a client, for all of its requests. */
export interface SafeHttpClientOptions {
  /** Allows http, and private, loopback and other non-public addresses. For development and tests. */
  allowPrivate: boolean;
  /** The user agent of requests without their own; default "workflow-service". */
  userAgent?: string;
  /** The limit of name resolution, TCP and TLS of one connection, in milliseconds; default 10 000. */
  connectTimeoutMs?: number;
  /**
   * The connections of one tenant to one origin. Further requests wait within their own timeout; default 256.
   */
  maxConnectionsPerOrigin?: number;
  /**
   * The requests of one tenant to all origins. Further requests wait within their own timeout; default 256.
   */
  maxRequestsPerTenant?: number;
  /** `address` or `address:port` of each name server; those of the machine by default. */
  dnsServers?: readonly string[] | undefined;
  /** The limit of one name's lookup, in milliseconds; default 5 000. */
  dnsTimeoutMs?: number;
  /** `prefix/length` of each NAT64 prefix of the network, besides the two known ones. */
  nat64Prefixes?: readonly string[] | undefined;
  /** Replaces name servers and the hosts file; every answer is still judged. For tests. */
  resolve?: Resolve;
  /** Makes the spans of requests whose trace is recorded. */
  tracer?: Tracer | undefined;
  /** PEM certificates to trust instead of the bundled roots. For private networks and tests. */
  ca?: string;
}

/** A client for hosts that tenants name. Requests made by the client itself belong to the platform. */
export interface SafeHttpClient extends HttpRequester, AsyncDisposable {
  /**
   * A tenant's own share of connections, requests and lookups. Creating one is cheap.
   *
   * @param traceparent W3C trace context of the caller. Where its trace is recorded each request has a span.
   * The receiver gets the span's context, unless the request has a `traceparent` header
   */
  forTenant(tenant: string, traceparent?: string | null): HttpRequester;
  /**
   * Judges the text of a URL before the URL is stored. Each request judges the resolved addresses.
   *
   * @throws HttpClientError INVALID_URL, ADDRESS_NOT_ALLOWED
   */
  checkUrl(url: string): void;
  /** Refuses new requests, waits for running ones and closes the connections. */
  close(): Promise<void>;
}

/** The tenant of requests that belong to none. */
const PLATFORM = "";

/** The running lookups: enough for names that answer, and room beside one tenant's dead names. */
const LOOKUPS = { perTenant: 16, total: 256 };

/** Creates a client. A process needs one. */
export function createSafeHttpClient(options: SafeHttpClientOptions): SafeHttpClient {
  const { allowPrivate, userAgent = "workflow-service" } = options;
  const nat64Prefixes = options.nat64Prefixes?.map(parseNat64Prefix);
  const policy: TargetPolicy = { allowPrivate, nat64Prefixes };
  const pools = createPools(options, policy);
  const turns = new Turns({ perTenant: options.maxRequestsPerTenant ?? 256 });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= pools.close());

  const untraced = (tenant: string): HttpRequester => ({
    async request(request, signal) {
      const startedAt = performance.now();
      const first = prepare(request, policy, userAgent);
      if (closing !== undefined) throw new HttpClientError("ABORTED", "The HTTP client is closed.");
      const { hop, status, headers, body } = await pools.use(tenant, (pool) =>
        withDeadline(request.timeoutMs, signal, async (stop) => {
          const giveBack = await turns.take(tenant, stop);
          try {
            const { hop, response } = await followRedirects({ pool, policy }, first, request, stop);
            return {
              hop,
              status: response.status,
              ...(await decode(response, hop, request, stop)),
            };
          } finally {
            giveBack();
          }
        }),
      );
      return {
        status,
        headers,
        body,
        url: hop.url.href,
        durationMs: Math.round(performance.now() - startedAt),
      };
    },
  });
  const forTenant = (tenant: string, traceparent?: string | null): HttpRequester =>
    tracedRequester(untraced(tenant), options.tracer, traceparent);
  const checkUrl = (url: string): void => void parseTarget(url, policy);
  return { ...forTenant(PLATFORM), forTenant, checkUrl, close, [Symbol.asyncDispose]: close };
}

function createPools(options: SafeHttpClientOptions, policy: TargetPolicy): TenantPools {
  const resolve = options.resolve ?? createNameServers({ servers: options.dnsServers });
  const lookups = new Turns(LOOKUPS);
  const { connectTimeoutMs = 10_000, dnsTimeoutMs = 5_000 } = options;
  return createTenantPools((tenant) => {
    const closing = new AbortController();
    const lookup = createLookup(tenant, {
      resolve,
      turns: lookups,
      timeoutMs: dnsTimeoutMs,
      closed: closing.signal,
    });
    const pool = createConnectionPool({
      ...policy,
      lookup,
      connectTimeoutMs,
      ca: options.ca,
      maxConnectionsPerOrigin: options.maxConnectionsPerOrigin ?? 256,
    });
    return {
      ...pool,
      close: () => {
        closing.abort();
        return pool.close();
      },
    };
  });
}

function prepare(request: SafeRequest, policy: TargetPolicy, userAgent: string): HopRequest {
  assertInteger("timeoutMs", request.timeoutMs, 1, TIMER_MS_MAX);
  assertInteger("maxResponseBytes", request.maxResponseBytes, 0);
  assertInteger("followRedirects", request.followRedirects ?? 0, 0);
  return {
    method: prepareMethod(request.method),
    url: parseTarget(request.url, policy),
    headers: prepareHeaders(request.headers ?? {}, userAgent),
    body: prepareBody(request.body, request.maxRequestBytes ?? Infinity),
    onData: request.onData,
    cutsResponse: request.cutsResponse,
    isRepeatable: request.isRepeatable,
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

/** Runs work until the time is up or the caller aborts, whichever is first. */
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
  // AbortSignal.any would add an entry to a long-lived signal for each request.
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
  { pool, policy }: { pool: ConnectionPool; policy: TargetPolicy },
  first: HopRequest,
  request: SafeRequest,
  stop: AbortSignal,
): Promise<{ hop: HopRequest; response: HopResponse }> {
  const limit = request.followRedirects ?? 0;
  let hop = first;
  let answered = false;
  for (let followed = 0; ; followed += 1) {
    try {
      request.onHop?.(new URL(hop.url));
      const response = await pool.exchange(hop, request.maxResponseBytes, stop);
      answered = true;
      const next = limit === 0 ? null : findNextHop(hop, response, policy);
      if (next === null) return { hop, response };
      if (followed === limit) throw tooManyRedirects(limit);
      hop = next;
    } catch (error) {
      // After an answer the request counts as sent, whatever fails later.
      throw answered && error instanceof HttpClientError ? withSent(error, true) : error;
    }
  }
}

/** The deadline covers decoding, since decoded bytes may wait for room like received ones. */
async function decode(
  { headers, body }: HopResponse,
  { url }: HopRequest,
  { maxResponseBytes, onData, cutsResponse = false }: SafeRequest,
  stop: AbortSignal,
): Promise<Pick<HopResponse, "headers" | "body">> {
  if (cutsResponse) return { headers, body };
  try {
    return await decodeBody(headers, body, maxResponseBytes, (bytes) => {
      stop.throwIfAborted();
      const waiting = onData?.(bytes);
      return waiting === undefined ? undefined : untilStopped(waiting, stop);
    });
  } catch (error) {
    throw toHttpClientError(error, url.host, true);
  }
}

/** Rejects with the signal's reason on abort, without waiting for the work. */
async function untilStopped(work: Promise<void>, stop: AbortSignal): Promise<void> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const onStop = (): void => reject(stop.reason);
  stop.addEventListener("abort", onStop, { once: true });
  try {
    await Promise.race([work, stopped]);
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}

function tooManyRedirects(limit: number): HttpClientError {
  const message = `The server redirected more than ${limit} times.`;
  return new HttpClientError("TOO_MANY_REDIRECTS", message, { sent: true });
}
