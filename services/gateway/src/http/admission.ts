import type { IncomingMessage, ServerResponse } from "node:http";
import { AppError } from "@workflow/errors";
import type { Authenticator, Credentials } from "../auth/authenticator.ts";
import type { Caller } from "../auth/caller.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";
import type { Route } from "../route-table-entry.ts";
import { hasOwnOrigin } from "./own-origin.ts";
import type { RequestInfo } from "./request-info.ts";
import { sessionTokenOf } from "./session-cookie.ts";

/** A route that needs a credential. */
type GuardedRoute = Exclude<Route, { scope: "everybody" }>;

const SAFE_METHODS = ["GET", "HEAD", "OPTIONS"];

/** What authenticates callers and counts their requests. */
export interface Gatekeepers {
  readonly authenticator: Authenticator;
  readonly rateLimits: RateLimits;
}

/** A request that has to be admitted, with its answer and what is noted about it. */
interface GuardedRequest {
  request: IncomingMessage;
  response: ServerResponse;
  info: RequestInfo;
}

/**
 * Authenticates the sender of a request, counts the request, and checks the scope of the route
 * (D2). Rejects with UNAUTHORIZED, RATE_LIMITED or FORBIDDEN.
 */
export async function admit(
  { authenticator, rateLimits }: Gatekeepers,
  route: GuardedRoute,
  { request, response, info }: GuardedRequest,
): Promise<Caller> {
  const caller = await authenticator.authenticate(credentialsOf(request));
  info.companyId = caller.identity.companyId;
  const counted = rateLimits.admit(caller, route.bucket, response);
  // There is no await where this gateway can decide alone.
  if (counted !== undefined) await counted;
  requireRights(route, caller, request, info);
  return caller;
}

/** Whether the sender of an admitted request would be admitted again; counts nothing. */
export async function readmit(
  authenticator: Authenticator,
  route: GuardedRoute,
  request: IncomingMessage,
  info: RequestInfo,
): Promise<void> {
  const caller = await authenticator.authenticate(credentialsOf(request));
  requireRights(route, caller, request, info);
}

function requireRights(
  route: GuardedRoute,
  caller: Caller,
  request: IncomingMessage,
  info: RequestInfo,
): void {
  // A browser sends the cookie with every request, those that another site triggers included (D10).
  if (caller.session !== null && isUnsafe(request)) requireOwnOrigin(request, info);
  if (caller.session !== null && route.ownPagesOnly) refuseOtherSites(request, info);
  requireAccess(route, caller);
}

/**
 * Prevents the page of another site from signing somebody in. Programs other than browsers send no
 * `Origin` and pass without one.
 */
export function refuseForeignOrigin(request: IncomingMessage, info: RequestInfo): void {
  if (request.headers.origin !== undefined) requireOwnOrigin(request, info);
}

/**
 * A link brings no `Origin`; browsers name the page that holds it in `Sec-Fetch-Site`
 * (https://www.w3.org/TR/fetch-metadata/). `none` means that the person typed the address.
 */
function refuseOtherSites(request: IncomingMessage, info: RequestInfo): void {
  const site = request.headers["sec-fetch-site"];
  const isForeignSite = site !== undefined && site !== "same-origin" && site !== "none";
  const { origin } = request.headers;
  const isForeignOrigin = origin !== undefined && !hasOwnOrigin(request, info);
  if (!isForeignSite && !isForeignOrigin) return;
  const header = isForeignSite ? "Sec-Fetch-Site" : "Origin";
  const message = `This changes something, so a session may ask for it from pages of this server only; ${header} names another site.`;
  throw new AppError("FORBIDDEN", message);
}

/** The credential in the headers of a request. */
export function credentialsOf(request: IncomingMessage): Credentials {
  const apiKey = request.headers["x-api-key"];
  return {
    apiKey: Array.isArray(apiKey) ? apiKey.join(",") : apiKey,
    sessionToken: sessionTokenOf(request),
  };
}

function isUnsafe({ method = "" }: IncomingMessage): boolean {
  return !SAFE_METHODS.includes(method);
}

function requireOwnOrigin(request: IncomingMessage, info: RequestInfo): void {
  if (hasOwnOrigin(request, info)) return;
  const message = "A change with a session needs an Origin header that names this server.";
  throw new AppError("FORBIDDEN", message);
}

function requireAccess(route: GuardedRoute, { identity, session }: Caller): void {
  if (route.scope === "session" && session === null) {
    throw new AppError("FORBIDDEN", "This is for signed-in people; an API key cannot do it.");
  }
  const scope = route.scope === "session" ? route.roleScope : route.scope;
  if (scope === null || identity.scopes.includes(scope)) return;
  const holder = session === null ? "API key" : `role ${session.role}`;
  throw new AppError("FORBIDDEN", `The ${holder} lacks the scope ${scope}.`);
}
