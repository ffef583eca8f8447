import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AppError } from "@workflow/errors";
import type { ClientFacts } from "@workflow/rpc";
import { readTraceparent, unsampled } from "@workflow/tracing";
import type { Beginning, Span, Tracer } from "@workflow/tracing";
import { clientFactsOf } from "./client-facts.ts";
import type { Compressor } from "./compression.ts";
import { calledServerOf } from "./own-origin.ts";
import type { CalledServer } from "./own-origin.ts";
import type { AnswerHeaders } from "./answer-headers.ts";
import type { ProxyTrust } from "./trusted-proxies.ts";

/** The facts of one request that its answer and its log line need. */
export interface RequestInfo extends CalledServer {
  readonly requestId: string;
  /** W3C trace context to hand on (D7): of the request's span, else the caller's. */
  readonly traceparent: string | undefined;
  /** Undefined when the trace is not recorded. Ends with the report of the request. */
  readonly span: Span | undefined;
  /** The sender, as far as the connection and its headers tell. */
  readonly client: ClientFacts;
  /** performance.now() when the request arrived. */
  readonly startedAt: number;
  /** The template of the route, for example `/workflows/{id}`, once it is known. */
  route?: string;
  companyId?: string;
  /**
   * Compresses the answer. Removed from routes whose answer may show a secret (BREACH,
   * CVE-2013-3587).
   */
  compressor: Compressor | undefined;
  /** Called when the answer is over, see `afterAnswer`. */
  readonly whenOver: (() => void)[];
  /** The error that ended the request. */
  error?: AppError;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * The property that holds a request's info. A WeakMap of all requests took 5 % of the gateway's
 * time.
 */
const INFO = Symbol("request info");

interface BegunRequest extends IncomingMessage {
  [INFO]?: RequestInfo;
}

/** The dependencies that all requests of a gateway share. */
export interface RequestSettings {
  readonly proxies: ProxyTrust;
  readonly answerHeaders: AnswerHeaders;
  readonly compressor: Compressor;
  /** Begins traces; without it callers' trace contexts are handed on unchanged. */
  readonly tracer?: Tracer | undefined;
}

/** Gives a request its id, and its response the headers that every response has. */
export function beginRequest(
  request: BegunRequest,
  response: ServerResponse,
  { proxies, answerHeaders, compressor, tracer }: RequestSettings,
): RequestInfo {
  const entries = proxies.entriesOf(request);
  const { isSecure, host } = calledServerOf(request, entries, proxies.believesHost);
  const given = request.headers["x-request-id"];
  const requestId = typeof given === "string" && REQUEST_ID.test(given) ? given : newRequestId();
  const info: RequestInfo = {
    requestId,
    ...beginTrace(tracer, request, requestId),
    client: clientFactsOf(request, entries),
    isSecure,
    host,
    startedAt: performance.now(),
    compressor,
    whenOver: [],
  };
  request[INFO] = info;
  response.once("close", () => {
    for (const call of info.whenOver) call();
  });
  for (const [name, value] of answerHeaders.of(request.headers.origin, isSecure)) {
    response.setHeader(name, value);
  }
  response.setHeader("X-Request-Id", info.requestId);
  return info;
}

/** Probes and scrapes are frequent and no use of the API, so they begin no trace. */
const TRACED = /^\/(?:api\/v1\/|webhooks\/|mcp\b|connect\/)/;

/** Proxies receive request lines in absolute form. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

function beginTrace(
  tracer: Tracer | undefined,
  { headers, method = "", url = "" }: IncomingMessage,
  requestId: string,
): Beginning {
  const traceparent = readTraceparent(headers["traceparent"]);
  if (tracer === undefined) return { span: undefined, traceparent };
  if (!TRACED.test(url.replace(ORIGIN, ""))) {
    // The caller's sampling flag is ignored: callers do not decide what is recorded.
    const handedOn = traceparent === undefined ? undefined : unsampled(traceparent);
    return { span: undefined, traceparent: handedOn };
  }
  return tracer.begin(KNOWN_METHODS.includes(method) ? method : "_OTHER", traceparent, {
    kind: "server",
    attributes: { "workflow.request.id": requestId },
  });
}

const KNOWN_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The info that `beginRequest` made. */
export function requestInfoOf(request: BegunRequest): RequestInfo {
  const info = request[INFO];
  if (info === undefined) throw new Error("The request was not begun.");
  return info;
}

/**
 * Registers a callback for the moment when the client has the answer or has left; it runs at once
 * when that moment has passed. All callbacks share one listener, since Node reports more than ten
 * as a leak.
 */
export function afterAnswer(response: ServerResponse, call: () => void): void {
  if (response.closed) call();
  else requestInfoOf(response.req).whenOver.push(call);
}

/** An id for a request that brought none. */
export function newRequestId(): string {
  return randomUUID();
}
