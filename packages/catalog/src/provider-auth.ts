import type { JsonPath, Pattern } from "./notations.ts";

/** The ways to connect a company's account at a provider. */
export type ProviderAuth = OAuthAuth | ApiKeyAuth | BankAuth | OwnAuth;

/**
 * OAuth 2, through the broker or the embedded client. The credentials are `accessToken` and, from some
 * providers, `refreshToken`.
 */
export interface OAuthAuth {
  readonly kind: "oauth";
  /** Patterns may name fields that are known before authorization: NetSuite's `accountId`. */
  readonly authorizeUrl: Pattern;
  readonly tokenUrl: Pattern;
  /** Revokes a token (RFC 7009). */
  readonly revokeUrl?: Pattern | undefined;
  /** The parameters instead of `token`, for providers that do not follow the RFC. */
  readonly revokeRequest?: RevokeRequest | undefined;
  /** The issuer of tokens, where the provider sends it in its answers (RFC 9207). */
  readonly issuer?: string | undefined;
  readonly scopes: readonly string[];
  /** The separator of scopes; a space by default. */
  readonly scopeSeparator?: string | undefined;
  /** Whether to send a proof key (RFC 7636); true unless the provider refuses one. */
  readonly pkce?: boolean | undefined;
  readonly authorizeParams?: Readonly<Record<string, string>> | undefined;
  readonly tokenAuth: "client_secret_basic" | "client_secret_post";
  /** Fields from the token answer, with their paths: Salesforce's `instance_url`. */
  readonly tokenFields?: Readonly<Record<string, JsonPath>> | undefined;
  /** Fields from the callback's query: QuickBooks' `realmId`. */
  readonly callbackFields?: Readonly<Record<string, string>> | undefined;
  /**
   * A request with the new access token as bearer, for fields that the token answer lacks: DocuSign's
   * account.
   */
  readonly userInfo?:
    { readonly url: Pattern; readonly fields: Readonly<Record<string, JsonPath>> } | undefined;
  /** The lifetime of an access token whose answer has no `expires_in`, in milliseconds. */
  readonly tokenLivesForMs?: number | undefined;
  /** The field with the account's id. By default the verification tells the id. */
  readonly accountField?: string | undefined;
  /** The provider's name at the broker; the manifest's id by default. */
  readonly brokerIntegration?: string | undefined;
}

/**
 * The request that revokes a token. Patterns, `revokeUrl` included, may name fields and credentials of the
 * connection, and `clientId` and `clientSecret` of our own application.
 */
export interface RevokeRequest {
  /** POST by default. */
  readonly method?: "POST" | "DELETE" | undefined;
  /** HTTP basic. */
  readonly basic?: readonly [user: Pattern, password: Pattern] | undefined;
  readonly headers?: Readonly<Record<string, Pattern>> | undefined;
  /** The members of the body, a form or a JSON object. */
  readonly body: Readonly<Record<string, Pattern>>;
  readonly bodyType: "form" | "json";
}

/** Keys that a person enters. */
export interface ApiKeyAuth {
  readonly kind: "apiKey";
  /** The inputs of `POST /connections/{provider}/api-key` besides apiKey. */
  readonly fields: readonly ApiKeyField[];
  /** Exchanges the keys for a short-lived token. Requests sign with it as `{accessToken}`. */
  readonly login?: LoginRequest | undefined;
  /** The field with the account's id. By default the verification tells the id. */
  readonly accountField?: string | undefined;
  /**
   * The field by which a caller names the account, unneeded in requests. The field counts only when the
   * verification confirms it, and is not kept in the connection.
   */
  readonly accountClaim?: string | undefined;
}

/** One entry of the form. */
export interface ApiKeyField {
  /** `clientId`, `externalAccountId`, `domain`, `accountId`, `environment`, `companyCode` and the like. */
  readonly key: string;
  readonly required: boolean;
  /** Whether the value is kept with the credentials, encrypted and never shown. */
  readonly secret?: boolean | undefined;
  readonly options?: readonly string[] | undefined;
  /** `host`: a host name of the tenant, checked like every address that a tenant names. */
  readonly form?: "text" | "host" | undefined;
}

/** The request for a token. */
export interface LoginRequest {
  readonly method: "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, Pattern>>;
  readonly body?: Readonly<Record<string, Pattern>> | undefined;
  readonly token: JsonPath;
  /**
   * The path of the expiry in the answer, an ISO time or seconds from now; by default `livesForMs` applies.
   */
  readonly expiresAt?: JsonPath | undefined;
  readonly livesForMs: number;
}

/** Bank accounts (Plaid). The steps are POST /connections, a link token, then a public token. */
export interface BankAuth {
  readonly kind: "bank";
}

/** An application of ours without authorization; an externalAccountId names the account. */
export interface OwnAuth {
  readonly kind: "own";
}
