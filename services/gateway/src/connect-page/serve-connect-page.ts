import type { ServerResponse } from "node:http";
import { AuthorizationAttempt_State as State } from "@workflow/proto/integrations/v1/authorizations";
import type {
  AuthorizationAttempt,
  AuthorizationsServiceService,
} from "@workflow/proto/integrations/v1/authorizations";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import type { RequestHandler } from "express";
import type { AddressLimits } from "../http/address-limits.ts";
import { answerOptions, wrongMethod } from "../http/methods.ts";
import { requestInfoOf } from "../http/request-info.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { sendRedirect, sendSuccess, sendText } from "../http/respond.ts";
import { serviceCallOf } from "../http/service-call.ts";
import { ASSETS, connectPage } from "./page.ts";

/** The path of the page. */
export const CONNECT_BASE = "/connect";

/** The dependencies of the page. */
export interface ConnectPageOptions {
  authorizations: RpcClient<AuthorizationsServiceService>;
  /** The limit of one client's status requests. */
  limits: AddressLimits;
  /** The base of the API, where the callback is. */
  apiBase: string;
}

/** The form of an attempt's token; other paths are refused without a lookup. */
const PATH = /^\/(?<token>[A-Za-z0-9_-]{43})(?:\/(?<part>status|go|done))?$/;

/** The policy of the page: its own parts from this origin, and no frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Serves the page that sends a person to the broker, waits for the outcome and goes on to the
 * callback. The token in its address is the only credential, and is kept from other sites.
 */
export function serveConnectPage(options: ConnectPageOptions): RequestHandler {
  return async (request, response, next) => {
    const asset = ASSETS.get(request.path.replace(/^\/assets\//, ""));
    const match = PATH.exec(request.path)?.groups;
    if (asset === undefined && match === undefined) return next();
    // Each `go` creates a link at the broker.
    const allowed = match?.["part"] === "go" ? ["GET"] : ["GET", "HEAD"];
    if (request.method === "OPTIONS") return answerOptions(response, allowed);
    if (!allowed.includes(request.method)) throw wrongMethod(response, allowed);
    protect(response);
    if (asset !== undefined) return sendText(response, 200, asset.contentType, asset.text);
    const { token = "", part } = match ?? {};
    const info = requestInfoOf(request);
    info.route = `${CONNECT_BASE}/{attempt}${part === undefined ? "" : `/${part}`}`;
    options.limits.admit(info.client.ipAddress);
    await servePart(options, { token, part, info, response });
  };
}

interface PartRequest {
  token: string;
  part: string | undefined;
  info: RequestInfo;
  response: ServerResponse;
}

async function servePart(
  { authorizations, apiBase }: ConnectPageOptions,
  { token, part, info, response }: PartRequest,
): Promise<void> {
  const call: RpcCallOptions = serviceCallOf(info);
  if (part === "go") {
    const { url } = await authorizations.continueAuthorization(
      { token },
      { ...call, timeoutMs: BROKER_TIMEOUT_MS },
    );
    return sendRedirect(response, url);
  }
  const attempt = await authorizations.getAuthorizationAttempt(
    { token },
    { ...call, timeoutMs: BROKER_TIMEOUT_MS },
  );
  const next = callbackOf(attempt, apiBase);
  if (part === "status") {
    return sendSuccess(response, 200, { state: STATE_NAMES[attempt.state], next });
  }
  if (part === "done" && next !== null) return sendRedirect(response, next);
  const path = `${CONNECT_BASE}/${token}`;
  // The page contains the token from its address.
  info.compressor = undefined;
  sendText(response, 200, "text/html; charset=utf-8", connectPage(path, attempt.providerName));
}

/** Longer than the interval in which the broker is asked. */
const BROKER_TIMEOUT_MS = 20_000;

const STATE_NAMES: Readonly<Record<State, string>> = {
  [State.UNSPECIFIED]: "waiting",
  [State.WAITING]: "waiting",
  [State.READY]: "ready",
  [State.COMPLETED]: "completed",
  [State.OVER]: "over",
  [State.UNRECOGNIZED]: "waiting",
};

/** The address where the person goes on, once there is one; always at this gateway. */
function callbackOf(
  { state, provider, connectionId }: AuthorizationAttempt,
  apiBase: string,
): string | null {
  if (state !== State.READY && state !== State.COMPLETED) return null;
  const query = new URLSearchParams({ connectionId, success: "true" });
  return `${apiBase}/connections/${encodeURIComponent(provider)}/callback?${query.toString()}`;
}

function protect(response: ServerResponse): void {
  response.setHeader("Content-Security-Policy", CONTENT_SECURITY_POLICY);
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
}
