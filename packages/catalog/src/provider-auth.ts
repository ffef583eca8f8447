import type { JsonPath, Pattern } from "./notations.ts";

/** How a company's account at a provider is connected. */
export type ProviderAuth = OAuthAuth | ApiKeyAuth | BankAuth | OwnAuth;

/**
 * OAuth 2, through the broker or the embedded client. The credentials are `accessToken` and, where the
 * provider gives one, `refreshToken`.
 */
export interface OAuthAuth {
  readonly kind: "oauth";
  /** Patterns may name fields that are known before: NetSuite's `accountId`. */
  readonly authorizeUrl: Pattern;
  readonly tokenUrl: Pattern;
  /** Takes a token back (RFC 7009). */
  readonly revokeUrl?: Pattern | undefined;
  /** What is sent there instead of `token` by providers that do not follow the RFC. */
  readonly revokeRequest?: RevokeRequest | undefined;
  /** The issuer of tokens when the provider tells it in its answers (RFC 9207). */
  readonly issuer?: string | undefined;
  readonly scopes: readonly string[];
  /** Between scopes; a space by default. */
  readonly scopeSeparator?: string | undefined;
  /** Proof key (RFC 7636); true unless the provider refuses it. */
  readonly pkce?: boolean | undefined;
  readonly authorizeParams?: Readonly<Record<string, string>> | undefined;
  readonly tokenAuth: "client_secret_basic" | "client_secret_post";
  /** Fields that the token answer brings, by their places in it: Salesforce's `instance_url`. */
  readonly tokenFields?: Readonly<Record<string, JsonPath>> | undefined;
  /** Fields that the provider adds to the callback's query: QuickBooks' `realmId`. */
  readonly callbackFields?: Readonly<Record<string, string>> | undefined;
  /** Asked with the new access token as bearer for what the token answer does not bring: DocuSign's account. */
  readonly userInfo?:
    { readonly url: Pattern; readonly fields: Readonly<Record<string, JsonPath>> } | undefined;
  /** How long to trust an access token whose answer has no `expires_in`, in milliseconds. */
  readonly tokenLivesForMs?: number | undefined;
  /** The field that is the account's id; without one the verification says it. */
  readonly accountField?: string | undefined;
  /** The provider's name at the broker; the manifest's id by default. */
  readonly brokerIntegration?: string | undefined;
}

/**
 * Patterns, that of `revokeUrl` among them, may name fields and credentials of the connection, and `clientId`
 * and `clientSecret` of our own application.
 */
export interface RevokeRequest {
  /** POST by default. */
  readonly method?: "POST" | "DELETE" | undefined;
  /** HTTP basic. */
  readonly basic?: readonly [user: Pattern, password: Pattern] | undefined;
  readonly headers?: Readonly<Record<string, Pattern>> | undefined;
  /** Members of the body: a form, or a JSON object. */
  readonly body: Readonly<Record<string, Pattern>>;
  readonly bodyType: "form" | "json";
}

/** Keys that a person enters. */
export interface ApiKeyAuth {
  readonly kind: "apiKey";
  /** What `POST /connections/{provider}/api-key` takes besides apiKey. */
  readonly fields: readonly ApiKeyField[];
  /** Exchanges the keys for a token that lives for a while; `{accessToken}` is then there to sign with. */
  readonly login?: LoginRequest | undefined;
  /**
   * The field that is the account's id; without one the verification says it. Requests are made with it, so
   * credentials of another account are refused.
   */
  readonly accountField?: string | undefined;
  /**
   * The field by which a caller says which account it is, and which requests do not need: it counts only
   * when the verification says the same, and is no field of the connection.
   */
  readonly accountClaim?: string | undefined;
}

/** One entry of the form. */
export interface ApiKeyField {
  /** `clientId`, `externalAccountId`, `domain`, `accountId`, `environment`, `companyCode` and the like. */
  readonly key: string;
  readonly required: boolean;
  /** Kept with the credentials, encrypted and never shown. */
  readonly secret?: boolean | undefined;
  readonly options?: readonly string[] | undefined;
  /** `host`: a host name of the tenant's, which is checked like every address that a tenant names. */
  readonly form?: "text" | "host" | undefined;
}

/** Asks for a token. */
export interface LoginRequest {
  readonly method: "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, Pattern>>;
  readonly body?: Readonly<Record<string, Pattern>> | undefined;
  readonly token: JsonPath;
  /** Where the answer says until when, as an ISO time or in seconds from now; else `livesForMs`. */
  readonly expiresAt?: JsonPath | undefined;
  readonly livesForMs: number;
}

/** Bank accounts (Plaid): begun with POST /connections, a link token, then a public token. */
export interface BankAuth {
  readonly kind: "bank";
}

/** An application of ours that needs no authorization: it is named by an externalAccountId. */
export interface OwnAuth {
  readonly kind: "own";
}
