import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AppError } from "@workflow/errors";
import type { ClientFacts } from "@workflow/rpc";
import { clientFactsOf } from "./client-facts.ts";
import type { Compressor } from "./compression.ts";
import { calledServerOf } from "./own-origin.ts";
import type { CalledServer } from "./own-origin.ts";
import type { AnswerHeaders } from "./answer-headers.ts";
import type { ProxyTrust } from "./trusted-proxies.ts";

/** What is known of one request, for its answer and for its line in the log. */
export interface RequestInfo extends CalledServer {
  readonly requestId: string;
  /** The caller's W3C trace context, to be handed on (D7). */
  readonly traceparent: string | undefined;
  /** Who sends it, as far as the connection and its headers tell. */
  readonly client: ClientFacts;
  /** performance.now() at the beginning. */
  readonly startedAt: number;
  /** The template of the route, for example `/workflows/{id}`, once it is known. */
  route?: string;
  companyId?: string;
  /** Compresses the answer; taken away from those that may show a secret (BREACH, CVE-2013-3587). */
  compressor: Compressor | undefined;
  /** Called when the answer is over, see `afterAnswer`. */
  readonly whenOver: (() => void)[];
  /** What the request failed with. */
  error?: AppError;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Where a request keeps its info. A WeakMap of all requests was 5 % of the gateway's time. */
const INFO = Symbol("request info");

interface BegunRequest extends IncomingMessage {
  [INFO]?: RequestInfo;
}

/** What holds for all requests of a gateway. */
export interface RequestSettings {
  readonly proxies: ProxyTrust;
  readonly answerHeaders: AnswerHeaders;
  readonly compressor: Compressor;
}

/** Gives a request its id and its response the headers that every response has. */
export function beginRequest(
  request: BegunRequest,
  response: ServerResponse,
  { proxies, answerHeaders, compressor }: RequestSettings,
): RequestInfo {
  const entries = proxies.entriesOf(request);
  const { isSecure, host } = calledServerOf(request, entries, proxies.believesHost);
  const given = request.headers["x-request-id"];
  const traceparent = request.headers["traceparent"];
  const info: RequestInfo = {
    requestId: typeof given === "string" && REQUEST_ID.test(given) ? given : newRequestId(),
    traceparent:
      typeof traceparent === "string" && TRACEPARENT.test(traceparent) ? traceparent : undefined,
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

/** The info that `beginRequest` made. */
export function requestInfoOf(request: BegunRequest): RequestInfo {
  const info = request[INFO];
  if (info === undefined) throw new Error("The request was not begun.");
  return info;
}

/**
 * Calls this when the client has the answer, or has gone; at once when that has been before. A response
 * has one listener for all who want to know: Node takes more than ten for a leak.
 */
export function afterAnswer(response: ServerResponse, call: () => void): void {
  if (response.closed) call();
  else requestInfoOf(response.req).whenOver.push(call);
}

/** An id for a request that brought none. */
export function newRequestId(): string {
  return randomUUID();
}
