import type { IncomingMessage, ServerResponse } from "node:http";
import { databaseErrorToAppError } from "@workflow/db";
import type { CursorCodec, Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type { RpcCallOptions } from "@workflow/rpc";
import type { AnswerTurns } from "@workflow/service";
import type { Caller } from "../auth/caller.ts";
import { isCredentialEnded } from "../auth/credential-ended.ts";
import type { IdentityChange } from "../domain/identity-change.ts";
import type { SignInGuard } from "../identity/sign-in-guard.ts";
import type { EventStream, FileReply, LongReply, RedirectReply, Reply } from "../reply.ts";
import type { Backends, OpenContext, RouteContext } from "../route-context.ts";
import type { OpenRoute, RawInput, Route } from "../route-table-entry.ts";
import type { AddressLimits } from "./address-limits.ts";
import { admit, readmit, refuseForeignOrigin } from "./admission.ts";
import type { Gatekeepers } from "./admission.ts";
import { abortOnDisconnect } from "./client-departure.ts";
import type { CompanyConnections } from "./company-connections.ts";
import { sendEvents } from "./event-stream.ts";
import { sendLongData } from "./long-response.ts";
import { tagOfText } from "./entity-tags.ts";
import { sendFile } from "./file-response.ts";
import { EMPTY_BODY, parseJsonBody } from "./json-body.ts";
import type { JsonBody } from "./json-body.ts";
import { parseQuery } from "./parse-query.ts";
import { readBody } from "./read-body.ts";
import { afterAnswer, requestInfoOf } from "./request-info.ts";
import type { RequestInfo } from "./request-info.ts";
import { publicOriginOf } from "./public-origin.ts";
import { sendRedirect, sendTagged, successText } from "./respond.ts";
import { serviceCallOf } from "./service-call.ts";
import { createUpload } from "./upload.ts";

export interface PipelineDependencies extends Gatekeepers {
  backends: Backends;
  connections: CompanyConnections;
  database: Database;
  /** Invalidates the cached credentials that a change of access is about. */
  invalidateAccess: (change: IdentityChange) => void;
  signIns: SignInGuard;
  cursors: CursorCodec;
  largeAnswers: AnswerTurns;
  /**
   * The public address of the gateway, without a trailing slash; undefined: taken from each
   * request.
   */
  publicUrl: string | undefined;
  callbacks: AddressLimits;
  /** Aborted when the gateway stops; answers without an end of their own end then. */
  stopping: AbortSignal;
}

/** A request and the answer to it. */
interface HttpExchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/**
 * Takes one request through a route, in the order of D2: credential (401), limit (429), scope
 * (403), body and query (413, 415, 400), then the handler. Rejects with the error that the caller
 * gets.
 */
export async function serveRoute(
  route: Route,
  params: Readonly<Record<string, string>>,
  exchanged: HttpExchange,
  dependencies: PipelineDependencies,
): Promise<void> {
  const { request, response } = exchanged;
  const info = requestInfoOf(request);
  info.route = route.path;
  // An answer that shows a secret once is recorded in the audit log.
  if (route.audit.length > 0) info.compressor = undefined;
  if (route.scope === "everybody") {
    await serveOpenRoute(route, params, exchanged, dependencies);
    return;
  }
  const { authenticator, connections, stopping } = dependencies;
  const caller = await admit(dependencies, route, { request, response, info });
  connections.claim(response, caller.identity.companyId);
  const input = await readInput(route, params, request);
  const exchange = new AbortController();
  if (route.endsWithClient) abortOnDisconnect(exchange, request, response);
  const call: RpcCallOptions = {
    identity: caller.identity,
    requestId: info.requestId,
    // Only changes are recorded, so reads save two headers.
    client: route.audit.length === 0 ? undefined : info.client,
    ...(info.traceparent === undefined ? {} : { traceparent: info.traceparent }),
    ...(route.endsWithClient ? { signal: exchange.signal } : {}),
  };
  const context = createContext(dependencies, caller, { request, info, call });
  await callServices(async () => {
    const reply = await runRoute(route, context, input);
    const onFailure = (error: AppError) => (info.error = error);
    if ("redirect" in reply) {
      sendRedirect(response, reply.redirect);
    } else if ("events" in reply) {
      const stay = (): Promise<void> => readmit(authenticator, route, request, info);
      const options = { stopping, exchange, readmit: stay, onFailure };
      await sendEvents(request, response, reply.events, options);
    } else if ("file" in reply) {
      await sendFile(request, response, reply.file, { exchange, onFailure });
    } else if ("longData" in reply) {
      const options = { exchange, onFailure, isTagged: route.isSingle };
      await sendLongData(request, response, reply.longData, options);
    } else sendReply(route, request, response, reply);
  });
}

function runRoute(
  route: Exclude<Route, OpenRoute>,
  context: RouteContext,
  input: RawInput,
): Promise<Reply | LongReply | EventStream | FileReply | RedirectReply> {
  if (route.scope !== "session") return route.run(context, input);
  const { session } = context;
  if (session === null) throw new Error("A caller without a session was let in.");
  return route.run({ ...context, session }, input);
}

async function serveOpenRoute(
  route: OpenRoute,
  params: Readonly<Record<string, string>>,
  { request, response }: HttpExchange,
  dependencies: PipelineDependencies,
): Promise<void> {
  const info = requestInfoOf(request);
  refuseForeignOrigin(request, info);
  const context = createOpenContext(dependencies, info, request);
  await withDatabaseErrors(async () => route.admit?.(context));
  const input = await readInput(route, params, request);
  const reply = await withDatabaseErrors(() => route.run(context, input));
  if ("redirect" in reply) return sendRedirect(response, reply.redirect);
  if (!("status" in reply)) throw new Error("An open route answers with a document.");
  sendReply(route, request, response, reply);
}

function sendReply(
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
): void {
  const { status, data, meta, cookie, onOver } = reply;
  if (onOver !== undefined) afterAnswer(response, onOver);
  if (cookie !== undefined) response.setHeader("Set-Cookie", cookie);
  const text = successText(data, meta);
  const etag = reply.etag ?? (route.isSingle ? tagOfText(text) : undefined);
  sendTagged(request, response, { status, text, etag });
}

/**
 * A handler's own queries may fail too; a database that is away is UNAVAILABLE, not INTERNAL_ERROR.
 */
async function withDatabaseErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw databaseErrorToAppError(error);
  }
}

async function callServices(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    const error = databaseErrorToAppError(thrown);
    if (error.reason !== "UNAUTHORIZED" || isCredentialEnded(error)) {
      throw error;
    }
    // The caller was admitted, so the token that a service refuses is the gateway's own.
    throw new AppError("INTERNAL_ERROR", "An internal error occurred.", {
      internal: "a service refused the gateway's identity token",
      cause: error,
    });
  }
}

async function readInput(
  route: Route,
  params: Readonly<Record<string, string>>,
  request: IncomingMessage,
): Promise<RawInput> {
  const { isUpload, bytesMax } = route.body;
  const body = hasBody(route) && !isUpload ? await readJson(route, request) : EMPTY_BODY;
  for (const [name, value] of Object.entries(params)) {
    if (isStorableText(value)) continue;
    const message = "must not contain NUL characters";
    throw new AppError("BAD_REQUEST", `The path is not valid: ${name} ${message}.`, {
      violations: [{ path: [name], message }],
    });
  }
  const upload = isUpload ? createUpload(request, bytesMax) : null;
  return { params, query: parseQuery(request.url ?? ""), body, upload };
}

/** GET and DELETE have no body in this API; Node discards what is sent nevertheless. */
function hasBody({ method }: Route): boolean {
  return method !== "GET" && method !== "DELETE";
}

async function readJson(route: Route, request: IncomingMessage): Promise<JsonBody> {
  const bytes = await readBody(request, route.body.bytesMax);
  if (bytes !== null) return parseJsonBody(bytes, request.headers);
  if (route.body.optional) return EMPTY_BODY;
  throw new AppError("BAD_REQUEST", "A JSON body is required.", {
    violations: [{ path: [], message: "is required and must be a JSON object" }],
  });
}

/** The arguments of a route's handler. */
export function createContext(
  dependencies: PipelineDependencies,
  { identity, session }: Caller,
  { request, info, call }: { request: IncomingMessage; info: RequestInfo; call: RpcCallOptions },
): RouteContext {
  return {
    ...dependencies.backends,
    ...createOpenContext(dependencies, info, request),
    identity,
    session,
    call,
    callWithScope: (scope) =>
      identity.scopes.includes(scope)
        ? call
        : { ...call, identity: { ...identity, scopes: [...identity.scopes, scope] } },
  };
}

function createOpenContext(
  dependencies: PipelineDependencies,
  info: RequestInfo,
  request: IncomingMessage,
): OpenContext {
  const { database, invalidateAccess, signIns, cursors, largeAnswers, callbacks } = dependencies;
  return {
    requestId: info.requestId,
    headers: request.headers,
    client: info.client,
    isSecure: info.isSecure,
    publicOrigin: () => publicOriginOf(info, dependencies.publicUrl),
    authorizations: dependencies.backends.authorizations,
    serviceCall: serviceCallOf(info),
    callbacks,
    database,
    invalidateAccess,
    signIns,
    cursors,
    largeAnswers,
  };
}
