import { fill, readPath } from "@workflow/catalog";
import type { Credentials, Pattern, RevokeRequest } from "@workflow/catalog";
import * as oauth from "openid-client";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { configure } from "./oauth-client.ts";
import type { OAuthTarget } from "./oauth-client.ts";
import { explainOAuthError } from "./oauth-errors.ts";
import { rebase } from "./oauth-endpoints.ts";
import { createTokenFetch } from "./token-exchange.ts";

/**
 * Revokes tokens (RFC 7009, or the manifest's own request). Does nothing for a manifest without either.
 *
 * @throws AuthorizationRefusedError, AppError UPSTREAM_ERROR
 */
export async function revokeTokens(
  http: ProviderHttp,
  target: OAuthTarget,
  credentials: Credentials,
): Promise<void> {
  const { revokeUrl, revokeRequest } = target.auth;
  // The refresh token stands for all tokens made from it, and outlives the access token.
  const token = credentials["refreshToken"] ?? credentials["accessToken"];
  if (revokeUrl === undefined || token === undefined) return;
  try {
    if (revokeRequest !== undefined) {
      const request = buildRevocation({ revokeUrl, revokeRequest }, target, credentials);
      await send(http, target, request);
      return;
    }
    const isRefreshToken = credentials["refreshToken"] !== undefined;
    await oauth.tokenRevocation(configure(http, target), token, {
      token_type_hint: isRefreshToken ? "refresh_token" : "access_token",
    });
  } catch (error) {
    throw explainOAuthError(target.provider, error);
  }
}

interface Revocation {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
}

function buildRevocation(
  { revokeUrl, revokeRequest }: { revokeUrl: Pattern; revokeRequest: RevokeRequest },
  { application, fields }: OAuthTarget,
  credentials: Credentials,
): Revocation {
  const { clientId, clientSecret, oauthBaseUrl } = application;
  const values = { ...fields, ...credentials, clientId, clientSecret };
  const fillAll = (patterns: Readonly<Record<string, Pattern>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(patterns).map(([name, pattern]) => [name, fill(pattern, values)]),
    );
  const { method = "POST", basic, headers = {}, bodyType } = revokeRequest;
  const user = basic?.map((pattern) => fill(pattern, values)).join(":");
  const url = fill(revokeUrl, values, encodeURIComponent);
  const body = fillAll(revokeRequest.body);
  const isForm = bodyType === "form";
  return {
    url: oauthBaseUrl === undefined ? url : rebase(url, oauthBaseUrl),
    method,
    headers: {
      accept: "application/json",
      "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
      ...(user === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(user).toString("base64")}` }),
      ...fillAll(headers),
    },
    body: isForm ? new URLSearchParams(body).toString() : JSON.stringify(body),
  };
}

async function send(
  http: ProviderHttp,
  { companyId, provider }: OAuthTarget,
  { url, ...request }: Revocation,
): Promise<void> {
  const response = await createTokenFetch(http, { companyId, provider: provider.id })(url, request);
  if (response.ok) return;
  const answer: unknown = await response.json();
  const code = readPath(answer, "error");
  throw new oauth.ResponseBodyError("The token was not taken back.", {
    cause: { error: typeof code === "string" ? code : "refused" },
    response,
  });
}
