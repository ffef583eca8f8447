import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AppError } from "@workflow/errors";
import type { ClientFacts } from "@workflow/rpc";
import { clientFactsOf } from "./client-facts.ts";
import { isSecureRequest } from "./own-origin.ts";

/** What is known of one request, for its answer and for its line in the log. */
export interface RequestInfo {
  readonly requestId: string;
  /** The caller's W3C trace context, to be handed on (D7). */
  readonly traceparent: string | undefined;
  /** Who sends it, as far as the connection and its headers tell. */
  readonly client: ClientFacts;
  /** Whether it has come by https. */
  readonly isSecure: boolean;
  /** performance.now() at the beginning. */
  readonly startedAt: number;
  /** The template of the route, for example `/workflows/{id}`, once it is known. */
  route?: string;
  companyId?: string;
  /** What the request failed with. */
  error?: AppError;
}

/** Where machines and people find out about the API; on every response (D8). */
export const LINK_HEADER = [
  '</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"',
  '</api/v1/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1"',
  '</docs>; rel="service-doc"; type="text/html"',
].join(", ");

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Where a request keeps its info. A WeakMap of all requests was 5 % of the gateway's time. */
const INFO = Symbol("request info");

interface BegunRequest extends IncomingMessage {
  [INFO]?: RequestInfo;
}

/**
 * Gives a request its id and its response the headers that every response has.
 *
 * @param trustedProxies see `clientFactsOf`
 */
export function beginRequest(
  request: BegunRequest,
  response: ServerResponse,
  trustedProxies: number,
): RequestInfo {
  const given = request.headers["x-request-id"];
  const traceparent = request.headers["traceparent"];
  const info: RequestInfo = {
    requestId: typeof given === "string" && REQUEST_ID.test(given) ? given : newRequestId(),
    traceparent:
      typeof traceparent === "string" && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    client: clientFactsOf(request, trustedProxies),
    isSecure: isSecureRequest(request, trustedProxies),
    startedAt: performance.now(),
  };
  request[INFO] = info;
  response.setHeader("Link", LINK_HEADER);
  response.setHeader("X-Request-Id", info.requestId);
  return info;
}

/** The info that `beginRequest` made. */
export function requestInfoOf(request: BegunRequest): RequestInfo {
  const info = request[INFO];
  if (info === undefined) throw new Error("The request was not begun.");
  return info;
}

/** An id for a request that brought none. */
export function newRequestId(): string {
  return randomUUID();
}
