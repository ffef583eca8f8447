import { startHttpDouble } from "./http-double.ts";
import type { DoubleResponse, HttpDouble, RecordedRequest } from "./http-double.ts";
import { OAuthGrants } from "./oauth-grants.ts";
import type { GivenToken } from "./oauth-grants.ts";
import { answerTroubled } from "./trouble.ts";
import type { Trouble } from "./trouble.ts";

/** The behaviour of an authorization server. */
export interface OAuthDoubleOptions {
  clientId: string;
  clientSecret: string;
  /** The client authentication; client_secret_post by default. */
  clientAuth?: "client_secret_basic" | "client_secret_post";
  /** The parameter `iss` of its answers (RFC 9207); not sent by default. */
  issuer?: string;
  /** Whether a proof key is required; true by default. */
  pkce?: boolean;
  /** The life of an access token, 3600 by default; null leaves `expires_in` out. */
  expiresInSeconds?: number | null;
  /** Whether each use of a refresh token replaces it; true by default. */
  rotates?: boolean;
  /** Further members of token answers, such as `instance_url`. */
  tokenMembers?: Readonly<Record<string, unknown>>;
  /** Further parameters of the callback, such as `realmId`. */
  callbackParams?: Readonly<Record<string, string>>;
  /** Turns the usual members of a token answer into the provider's own form, such as Slack's. */
  tokenForm?: (members: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** True when errors of token requests have status 200, as Slack's do. */
  errorsAre200?: boolean;
  /** The answer to a GET with an access token, such as DocuSign's accounts. */
  userInfo?: () => unknown;
}

/** An authorization server: PKCE enforced, codes work once, refresh tokens rotate, tokens are revoked. */
export interface OAuthDouble {
  url: string;
  requests: HttpDouble["requests"];
  /** The decision of a person at the authorization page. */
  consent: "allow" | "deny";
  /** The trouble that replaces answers to token requests; null for none. */
  trouble: Trouble | null;
  /** Errors for the next token requests, in order. */
  readonly failures: { status: number; error: string }[];
  readonly given: readonly GivenToken[];
  /** How often a used code or refresh token was shown again. */
  reuses(): number;
  /** The highest number of concurrent token requests so far. */
  concurrencyMax(): number;
  isRevoked(token: string): boolean;
  /** Gives out tokens of a consent that a person gave before. */
  grant(): GivenToken;
  /** Ends a consent, as a person does at the provider. */
  revoke(accessToken: string): void;
  /** Visits an authorization URL as a browser does. Returns the address of the redirect. */
  visit(authorizeUrl: string): Promise<URL>;
  close(): Promise<void>;
}

/**
 * Starts an authorization server. It recognizes requests by their content, so paths do not matter.
 */
export async function startOAuthDouble(options: OAuthDoubleOptions): Promise<OAuthDouble> {
  const grants = new OAuthGrants(options.rotates !== false);
  const failures: { status: number; error: string }[] = [];
  const underWay = { now: 0, max: 0 };

  const http = await startHttpDouble(async (request, response) => {
    if (request.method === "GET") {
      if (request.headers.authorization !== undefined) return tellUser(request, grants, options);
      return authorize(new URL(request.path, "http://double"), double.consent, grants, options);
    }
    if (double.trouble !== null) return answerTroubled(double.trouble, response);
    const form = new URLSearchParams(request.body);
    if (!form.has("grant_type")) return revokeToken(request, grants, options);
    await countTogether(underWay);
    const failure = failures.shift();
    const answer =
      failure === undefined
        ? answerToken(request, grants, options)
        : refusal(failure.error, failure.status);
    const isError = (answer.status ?? 200) >= 400;
    if (!isError || options.errorsAre200 !== true) return answer;
    return { body: { ok: false, ...Object(answer.body) } };
  });

  const double: OAuthDouble = {
    url: http.url,
    requests: http.requests,
    consent: "allow",
    trouble: null,
    failures,
    given: grants.given,
    reuses: () => grants.reuses,
    concurrencyMax: () => underWay.max,
    grant: () => grants.give(),
    isRevoked: (token) => grants.isRevoked(token),
    revoke: (accessToken) => grants.revoke(accessToken),
    visit,
    close: () => http.close(),
  };
  return double;
}

async function visit(authorizeUrl: string): Promise<URL> {
  const response = await fetch(authorizeUrl, { redirect: "manual" });
  const location = response.headers.get("location");
  if (location === null) throw new Error(`No way back: ${response.status}`);
  return new URL(location);
}

/** One turn of the event loop lets requests that arrive together be counted together. */
async function countTogether(underWay: { now: number; max: number }): Promise<void> {
  underWay.now += 1;
  underWay.max = Math.max(underWay.max, underWay.now);
  await new Promise((resolve) => setImmediate(resolve));
  underWay.now -= 1;
}

function authorize(
  url: URL,
  consent: OAuthDouble["consent"],
  grants: OAuthGrants,
  { clientId, pkce, issuer, callbackParams = {} }: OAuthDoubleOptions,
): DoubleResponse {
  const redirectUri = url.searchParams.get("redirect_uri") ?? "";
  const challenge = url.searchParams.get("code_challenge");
  const isPlain = challenge !== null && url.searchParams.get("code_challenge_method") !== "S256";
  if (url.searchParams.get("client_id") !== clientId || isPlain) return { status: 400 };
  if (challenge === null && pkce !== false) return { status: 400, body: "PKCE" };
  const target = new URL(redirectUri);
  target.searchParams.set("state", url.searchParams.get("state") ?? "");
  if (issuer !== undefined) target.searchParams.set("iss", issuer);
  if (consent === "deny") {
    target.searchParams.set("error", "access_denied");
  } else {
    target.searchParams.set("code", grants.createCode(challenge, redirectUri));
    for (const [name, value] of Object.entries(callbackParams)) {
      target.searchParams.set(name, value);
    }
  }
  return { status: 302, headers: { location: target.href } };
}

function answerToken(
  request: RecordedRequest,
  grants: OAuthGrants,
  options: OAuthDoubleOptions,
): DoubleResponse {
  const form = new URLSearchParams(request.body);
  if (!isClient(request, form, options)) return refusal("invalid_client", 401);
  const isRefresh = form.get("grant_type") === "refresh_token";
  const token = isRefresh ? grants.refresh(form) : grants.exchangeCode(form);
  if (token === null) return refusal("invalid_grant");
  const { expiresInSeconds = 3600, tokenForm = (members) => members } = options;
  const members = {
    access_token: token.accessToken,
    refresh_token: token.refreshToken,
    token_type: "bearer",
    ...(expiresInSeconds === null ? {} : { expires_in: expiresInSeconds }),
    ...options.tokenMembers,
  };
  return { body: tokenForm(members) };
}

function tellUser(
  { headers }: RecordedRequest,
  grants: OAuthGrants,
  { userInfo }: OAuthDoubleOptions,
): DoubleResponse {
  const shown = headers.authorization?.replace(/^Bearer /, "");
  return grants.accepts(shown) ? { body: userInfo?.() } : { status: 401 };
}

function revokeToken(
  request: RecordedRequest,
  grants: OAuthGrants,
  options: OAuthDoubleOptions,
): DoubleResponse {
  const form = new URLSearchParams(request.body);
  if (!isClient(request, form, options)) return refusal("invalid_client", 401);
  grants.revoke(form.get("token") ?? "");
  return {};
}

function isClient(
  { headers }: RecordedRequest,
  form: URLSearchParams,
  { clientId, clientSecret, clientAuth = "client_secret_post" }: OAuthDoubleOptions,
): boolean {
  if (clientAuth === "client_secret_post") {
    return form.get("client_id") === clientId && form.get("client_secret") === clientSecret;
  }
  const encoded = /^Basic (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
  // Both parts are encoded like form members (RFC 6749, 2.3.1).
  const parts = Buffer.from(encoded, "base64").toString("utf8").split(":").map(decodeFormPart);
  return parts[0] === clientId && parts[1] === clientSecret;
}

function decodeFormPart(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}

function refusal(error: string, status = 400): DoubleResponse {
  return { status, body: { error, error_description: `The double says ${error}.` } };
}
