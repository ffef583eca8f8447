import { readPath } from "@workflow/catalog";
import type {
  ConnectionFields,
  Credentials,
  OAuthAuth,
  Pattern,
  ProviderManifest,
} from "@workflow/catalog";
import * as oauth from "openid-client";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { explainOAuthError } from "./oauth-errors.ts";
import { fieldsNeeded, oauthEndpoint } from "./oauth-endpoints.ts";
import { createTokenFetch } from "./token-exchange.ts";

/** An application that the operator has registered at a provider. */
export interface OAuthApplication {
  clientId: string;
  clientSecret: string;
  /** Replaces scheme and host of the manifest's addresses, for tests or a provider's sandbox. */
  oauthBaseUrl?: string | undefined;
}

/** A provider and a company for which the embedded client asks it. */
export interface OAuthTarget {
  companyId: string;
  provider: ProviderManifest;
  auth: OAuthAuth;
  application: OAuthApplication;
  fields: ConnectionFields;
}

/** The tokens that a provider grants. */
export interface OAuthGrant {
  credentials: Credentials;
  /** The end of the access token; null when the provider does not say. */
  expiresAt: Date | null;
  /** Fields of the manifest that the answer contained. */
  fields: Record<string, string>;
}

/** A person's way to a provider and back to `callbackUrl`. */
export interface OAuthJourney {
  state: string;
  callbackUrl: string;
  /** The proof key; null when the provider refuses it. */
  codeVerifier: string | null;
}

/** Whether a proof key is sent (RFC 7636). */
export function usesProofKey({ pkce = true }: OAuthAuth): boolean {
  return pkce;
}

/** The address at the provider for the person. */
export async function authorizationUrl(
  target: OAuthTarget,
  journey: OAuthJourney,
): Promise<string> {
  const { auth, application, fields } = target;
  const url = new URL(oauthEndpoint(auth.authorizeUrl, fields, application.oauthBaseUrl));
  const { codeVerifier } = journey;
  const params = {
    response_type: "code",
    client_id: application.clientId,
    redirect_uri: journey.callbackUrl,
    ...(auth.scopes.length === 0 ? {} : { scope: auth.scopes.join(auth.scopeSeparator ?? " ") }),
    ...auth.authorizeParams,
    state: journey.state,
    ...(codeVerifier === null
      ? {}
      : {
          code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: "S256",
        }),
  };
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return url.href;
}

/**
 * Exchanges the code with which a person came back.
 *
 * @param query the parameters of the callback
 * @throws AuthorizationRefusedError for a refusal of the provider or of the check
 * @throws AppError UPSTREAM_ERROR when the provider gives no answer
 */
export async function exchangeCode(
  http: ProviderHttp,
  target: OAuthTarget,
  journey: OAuthJourney,
  query: Readonly<Record<string, string>>,
): Promise<OAuthGrant> {
  const url = new URL(journey.callbackUrl);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  // A manifest without an issuer gives nothing to compare `iss` with.
  if (target.auth.issuer === undefined) url.searchParams.delete("iss");
  // The address of the token request may depend on a parameter of the callback: NetSuite's account.
  const brought = callbackFields(target.auth, query);
  const full = { ...target, fields: { ...target.fields, ...brought } };
  try {
    const tokens = await oauth.authorizationCodeGrant(configure(http, full), url, {
      expectedState: journey.state,
      ...(journey.codeVerifier === null ? {} : { pkceCodeVerifier: journey.codeVerifier }),
    });
    const grant = readGrant(target.auth, tokens, null);
    const known = pickFields(full.fields, fieldsNeeded(target.auth));
    return { ...grant, fields: { ...known, ...brought, ...grant.fields } };
  } catch (error) {
    throw explainOAuthError(target.provider, error);
  }
}

/** Only the named fields are kept. The others may belong to another account. */
function pickFields(fields: ConnectionFields, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
}

/**
 * Renews an access token; the provider may replace the refresh token too.
 *
 * @throws AuthorizationRefusedError, AppError UPSTREAM_ERROR
 */
export async function refreshTokens(
  http: ProviderHttp,
  target: OAuthTarget,
  refreshToken: string,
): Promise<OAuthGrant> {
  try {
    const tokens = await oauth.refreshTokenGrant(configure(http, target), refreshToken);
    return readGrant(target.auth, tokens, refreshToken);
  } catch (error) {
    throw explainOAuthError(target.provider, error);
  }
}

/**
 * openid-client's configuration of a provider.
 *
 * @throws AppError BAD_REQUEST naming a field that an address needs
 */
export function configure(http: ProviderHttp, target: OAuthTarget): oauth.Configuration {
  const { companyId, provider, auth, application, fields } = target;
  const { clientId, clientSecret, oauthBaseUrl } = application;
  const endpoint = (pattern: Pattern): string => oauthEndpoint(pattern, fields, oauthBaseUrl);
  const tokenUrl = endpoint(auth.tokenUrl);
  const { issuer = new URL(tokenUrl).origin, revokeRequest } = auth;
  // A manifest's own revocation request may need more than fields, so its pattern is not filled here.
  const revokeUrl = revokeRequest === undefined ? auth.revokeUrl : undefined;
  const config = new oauth.Configuration(
    {
      issuer,
      token_endpoint: tokenUrl,
      ...(revokeUrl === undefined ? {} : { revocation_endpoint: endpoint(revokeUrl) }),
      authorization_response_iss_parameter_supported: auth.issuer !== undefined,
    },
    clientId,
    undefined,
    auth.tokenAuth === "client_secret_basic"
      ? clientSecretBasic(clientSecret)
      : oauth.ClientSecretPost(clientSecret),
  );
  // Only the operator can set an http address; the provider client checks all others.
  oauth.allowInsecureRequests(config);
  config[oauth.customFetch] = createTokenFetch(http, { companyId, provider: provider.id });
  return config;
}

/**
 * Client authentication by HTTP basic (RFC 6749, 2.3.1). Unlike the library's own, it encodes only
 * characters that need it, because not every provider decodes them.
 */
function clientSecretBasic(clientSecret: string): oauth.ClientAuth {
  return (_server, { client_id: clientId }, _body, headers) => {
    const pair = [clientId, clientSecret].map(encodeURIComponent).join(":");
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  };
}

function readGrant(
  auth: OAuthAuth,
  tokens: oauth.TokenEndpointResponse & oauth.TokenEndpointResponseHelpers,
  earlierRefreshToken: string | null,
): OAuthGrant {
  const refreshToken = tokens.refresh_token ?? earlierRefreshToken;
  const seconds = tokens.expiresIn();
  const lifeMs = seconds === undefined ? auth.tokenLivesForMs : seconds * 1000;
  return {
    credentials: {
      accessToken: tokens.access_token,
      ...(refreshToken === null ? {} : { refreshToken }),
    },
    expiresAt: lifeMs === undefined ? null : new Date(Date.now() + lifeMs),
    fields: readFields(auth, tokens),
  };
}

/** The fields of a token answer, by their paths. */
export function readFields(auth: OAuthAuth, answer: unknown): Record<string, string> {
  return textsOf(
    Object.entries(auth.tokenFields ?? {}).map(([name, path]) => [name, readPath(answer, path)]),
  );
}

/** The fields of a callback, by the names of their parameters. */
export function callbackFields(
  auth: OAuthAuth,
  params: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return textsOf(
    Object.entries(auth.callbackFields ?? {}).map(([name, param]) => [name, params[param]]),
  );
}

function textsOf(entries: readonly (readonly [string, unknown])[]): Record<string, string> {
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      const isText = typeof value === "string" || typeof value === "number";
      return isText && String(value) !== "" ? [[name, String(value)]] : [];
    }),
  );
}
