import { createHash, randomBytes } from "node:crypto";
import { startHttpDouble } from "./http-double.ts";
import type { DoubleResponse, HttpDouble, RecordedRequest } from "./http-double.ts";
import { answerTroubled } from "./trouble.ts";
import type { Trouble } from "./trouble.ts";

/** How an authorization server behaves. */
export interface OAuthDoubleOptions {
  clientId: string;
  clientSecret: string;
  /** Default client_secret_post. */
  clientAuth?: "client_secret_basic" | "client_secret_post";
  /** The parameter `iss` of its answers (RFC 9207); not sent by default. */
  issuer?: string;
  /** Whether a proof key is required; true by default. */
  pkce?: boolean;
  /** Default 3600; null leaves `expires_in` out. */
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

/** A token that was given out. */
export interface GivenToken {
  accessToken: string;
  refreshToken: string;
  /** The consent that the token came from. Its tokens are revoked together. */
  family: string;
}

/** An authorization server: PKCE enforced, codes work once, refresh tokens rotate, tokens are revoked. */
export interface OAuthDouble {
  url: string;
  requests: HttpDouble["requests"];
  /** The decision of a person who is sent there. */
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
  /** Tokens of a consent that a person gave before. */
  grant(): GivenToken;
  /** Ends a consent, as a person would at the provider. */
  revoke(accessToken: string): void;
  /** Visits an authorization URL like a browser. Returns the address of the redirect. */
  visit(authorizeUrl: string): Promise<URL>;
  close(): Promise<void>;
}

interface Code {
  challenge: string | null;
  redirectUri: string;
  family: string;
  used: boolean;
}

/**
 * Starts an authorization server. It recognizes requests by their content, so paths do not matter.
 */
export async function startOAuthDouble(options: OAuthDoubleOptions): Promise<OAuthDouble> {
  const codes = new Map<string, Code>();
  const given: GivenToken[] = [];
  const current = new Map<string, GivenToken>();
  const revoked = new Set<string>();
  const failures: { status: number; error: string }[] = [];
  let reuses = 0;
  let underWay = 0;
  let concurrencyMax = 0;

  const give = (family: string): DoubleResponse => {
    const token = { accessToken: random("at"), refreshToken: random("rt"), family };
    const kept = options.rotates === false ? current.get(family)?.refreshToken : undefined;
    const next = { ...token, refreshToken: kept ?? token.refreshToken };
    given.push(next);
    current.set(family, next);
    const { expiresInSeconds = 3600, tokenForm = (members) => members } = options;
    const members = {
      access_token: next.accessToken,
      refresh_token: next.refreshToken,
      token_type: "bearer",
      ...(expiresInSeconds === null ? {} : { expires_in: expiresInSeconds }),
      ...options.tokenMembers,
    };
    return { body: tokenForm(members) };
  };

  const reuse = (family: string): DoubleResponse => {
    reuses += 1;
    revoked.add(family);
    return refusal("invalid_grant");
  };

  const exchangeCode = (form: URLSearchParams): DoubleResponse => {
    const code = codes.get(form.get("code") ?? "");
    if (code === undefined) return refusal("invalid_grant");
    if (code.used) return reuse(code.family);
    code.used = true;
    const verifier = form.get("code_verifier");
    const challenge = verifier === null ? null : challengeOf(verifier);
    const isSame = challenge === code.challenge && form.get("redirect_uri") === code.redirectUri;
    return isSame ? give(code.family) : refusal("invalid_grant");
  };

  const refresh = (form: URLSearchParams): DoubleResponse => {
    const shown = form.get("refresh_token");
    const known = given.find(({ refreshToken }) => refreshToken === shown);
    if (known === undefined || revoked.has(known.family)) return refusal("invalid_grant");
    const isCurrent = current.get(known.family)?.refreshToken === shown;
    return isCurrent ? give(known.family) : reuse(known.family);
  };

  const tellUser = ({ headers }: RecordedRequest): DoubleResponse => {
    const shown = headers.authorization?.replace(/^Bearer /, "");
    const known = given.find(({ accessToken }) => accessToken === shown);
    if (known === undefined || revoked.has(known.family)) return { status: 401 };
    return { body: options.userInfo?.() };
  };

  const answerToken = (request: RecordedRequest): DoubleResponse => {
    const form = new URLSearchParams(request.body);
    const failure = failures.shift();
    if (failure !== undefined) return refusal(failure.error, failure.status);
    if (!isClient(request, form, options)) return refusal("invalid_client", 401);
    return form.get("grant_type") === "refresh_token" ? refresh(form) : exchangeCode(form);
  };

  const revokeToken = (request: RecordedRequest): DoubleResponse => {
    const form = new URLSearchParams(request.body);
    if (!isClient(request, form, options)) return refusal("invalid_client", 401);
    const shown = form.get("token");
    const known = given.find((each) => [each.accessToken, each.refreshToken].includes(shown ?? ""));
    if (known !== undefined) revoked.add(known.family);
    return {};
  };

  const authorize = (url: URL): DoubleResponse => {
    const redirectUri = url.searchParams.get("redirect_uri") ?? "";
    const challenge = url.searchParams.get("code_challenge");
    const isPlain = challenge !== null && url.searchParams.get("code_challenge_method") !== "S256";
    if (url.searchParams.get("client_id") !== options.clientId || isPlain) return { status: 400 };
    if (challenge === null && options.pkce !== false) return { status: 400, body: "PKCE" };
    const target = new URL(redirectUri);
    target.searchParams.set("state", url.searchParams.get("state") ?? "");
    if (options.issuer !== undefined) target.searchParams.set("iss", options.issuer);
    if (double.consent === "deny") {
      target.searchParams.set("error", "access_denied");
    } else {
      const code = random("code");
      codes.set(code, { challenge, redirectUri, family: random("fam"), used: false });
      target.searchParams.set("code", code);
      for (const [name, value] of Object.entries(options.callbackParams ?? {})) {
        target.searchParams.set(name, value);
      }
    }
    return { status: 302, headers: { location: target.href } };
  };

  const http = await startHttpDouble(async (request, response) => {
    const url = new URL(request.path, "http://double");
    if (request.method === "GET" && request.headers.authorization !== undefined) {
      return tellUser(request);
    }
    if (request.method === "GET") return authorize(url);
    if (double.trouble !== null) return answerTroubled(double.trouble, response);
    if (!new URLSearchParams(request.body).has("grant_type")) return revokeToken(request);
    underWay += 1;
    concurrencyMax = Math.max(concurrencyMax, underWay);
    // One turn of the event loop lets requests that arrive together be counted together.
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    const answer = answerToken(request);
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
    given,
    reuses: () => reuses,
    concurrencyMax: () => concurrencyMax,
    grant: () => {
      give(random("fam"));
      const [last] = given.slice(-1);
      if (last === undefined) throw new Error("Nothing was given.");
      return last;
    },
    isRevoked: (token) => {
      const known = given.find((each) => [each.accessToken, each.refreshToken].includes(token));
      return known !== undefined && revoked.has(known.family);
    },
    revoke: (accessToken) => {
      const known = given.find((each) => each.accessToken === accessToken);
      if (known !== undefined) revoked.add(known.family);
    },
    visit: async (authorizeUrl) => {
      const response = await fetch(authorizeUrl, { redirect: "manual" });
      const location = response.headers.get("location");
      if (location === null) throw new Error(`No way back: ${response.status}`);
      return new URL(location);
    },
    close: () => http.close(),
  };
  return double;
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

function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

function random(kind: string): string {
  return `${kind}_${randomBytes(12).toString("hex")}`;
}
