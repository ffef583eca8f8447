import type { IncomingMessage, ServerResponse } from "node:http";
import { isStorableText } from "@workflow/definition";
import { AppError, isAppError } from "@workflow/errors";
import type { Identity, RpcCallOptions } from "@workflow/rpc";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Scope } from "../auth/scopes.ts";
import type { Backends, EventStream, RawInput, Reply, Route, RouteContext } from "../route.ts";
import { sendEvents } from "./event-stream.ts";
import { EMPTY_BODY, parseJsonBody } from "./json-body.ts";
import type { JsonBody } from "./json-body.ts";
import { parseQuery } from "./parse-query.ts";
import { readBody } from "./read-body.ts";
import { requestInfoOf } from "./request-info.ts";
import type { RequestInfo } from "./request-info.ts";
import { sendSuccess } from "./respond.ts";

export interface PipelineDependencies {
  authenticator: Authenticator;
  backends: Backends;
  /** Aborted when the gateway stops: answers that have no end of their own end then. */
  stopping: AbortSignal;
}

/**
 * Takes one request through a route, in the order of D2: who calls (401), whether it may (403), what
 * it says (413, 415, 400), and then the handler. Rejects with what the caller is to be told.
 */
export async function serveRoute(
  route: Route,
  params: Readonly<Record<string, string>>,
  request: IncomingMessage,
  response: ServerResponse,
  { authenticator, backends, stopping }: PipelineDependencies,
): Promise<void> {
  const info = requestInfoOf(request);
  info.route = route.path;
  const admit = async (): Promise<Identity> => {
    const admitted = await authenticator.authenticate(apiKeyOf(request));
    info.companyId = admitted.companyId;
    requireScope(admitted, route.scope);
    return admitted;
  };
  const identity = await admit();
  const input = await readInput(route, params, request);
  const exchange = new AbortController();
  const isRead = route.method === "GET";
  if (isRead) abortOnDisconnect(exchange, response);
  const call: RpcCallOptions = {
    identity,
    requestId: info.requestId,
    ...(info.traceparent === undefined ? {} : { traceparent: info.traceparent }),
    ...(isRead ? { signal: exchange.signal } : {}),
  };
  const context = createContext(backends, identity, info, request, call);
  await callServices(async () => {
    const reply: Reply | EventStream = await route.run(context, input);
    if (!("events" in reply)) {
      sendSuccess(response, reply.status, reply.data, reply.meta);
      return;
    }
    await sendEvents(request, response, reply.events, {
      stopping,
      exchange,
      readmit: admit,
      onFailure: (error) => (info.error = error),
    });
  });
}

/** The value of the header that carries the credential. */
export function apiKeyOf(request: IncomingMessage): string | undefined {
  const value = request.headers["x-api-key"];
  return Array.isArray(value) ? value.join(",") : value;
}

async function callServices(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isAppError(error) || error.reason !== "UNAUTHORIZED") throw error;
    // The caller has been let in: it is our own token that a service does not accept.
    throw new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: "a service refused the gateway's identity token",
      cause: error,
    });
  }
}

function requireScope(identity: Identity, scope: Scope): void {
  if (identity.scopes.includes(scope)) return;
  throw new AppError("FORBIDDEN", `The API key lacks the scope ${scope}.`);
}

async function readInput(
  route: Route,
  params: Readonly<Record<string, string>>,
  request: IncomingMessage,
): Promise<RawInput> {
  const body = hasBody(route) ? await readJson(route, request) : EMPTY_BODY;
  for (const [name, value] of Object.entries(params)) {
    if (isStorableText(value)) continue;
    const message = "must not contain NUL characters";
    throw new AppError("BAD_REQUEST", `The path is not valid: ${name} ${message}.`, {
      violations: [{ path: [name], message }],
    });
  }
  return { params, query: parseQuery(request.url ?? ""), body };
}

/** GET and DELETE have no body in this API; Node throws away what is sent nevertheless. */
function hasBody({ method }: Route): boolean {
  return method !== "GET" && method !== "DELETE";
}

async function readJson(route: Route, request: IncomingMessage): Promise<JsonBody> {
  const bytes = await readBody(request, route.body.bytesMax);
  if (bytes !== null) return parseJsonBody(bytes, request.headers);
  if (route.body.optional) return EMPTY_BODY;
  throw new AppError("BAD_REQUEST", "A JSON body is required.");
}

function createContext(
  backends: Backends,
  identity: Identity,
  info: RequestInfo,
  request: IncomingMessage,
  call: RpcCallOptions,
): RouteContext {
  return {
    workflows: backends.workflows,
    runs: backends.runs,
    approvals: backends.approvals,
    schedules: backends.schedules,
    secrets: backends.secrets,
    starts: backends.starts,
    requestId: info.requestId,
    identity,
    headers: request.headers,
    call,
    callWithScope: (scope) =>
      identity.scopes.includes(scope)
        ? call
        : { ...call, identity: { ...identity, scopes: [...identity.scopes, scope] } },
  };
}

/** Ends an exchange whose connection closes before the answer was sent. */
function abortOnDisconnect(exchange: AbortController, response: ServerResponse): void {
  response.once("close", () => {
    if (!response.writableFinished) exchange.abort();
  });
}
