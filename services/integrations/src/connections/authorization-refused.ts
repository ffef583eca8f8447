/** The provider, or a check of its answer, has refused; a repeated question would not help. */
export class AuthorizationRefusedError extends Error {
  override readonly name = "AuthorizationRefusedError";
  /** The provider's code, in its own form: `invalid_grant`. */
  readonly code: string;
  /** Whether the consent has ended (RFC 6749, 5.2), rather than the application or the request being wrong. */
  readonly isConsentOver: boolean;
  /** Whether our own application at the provider is refused, which only the operator can fix. */
  readonly isApplicationRefused: boolean;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.isConsentOver = CONSENT_OVER.has(code);
    this.isApplicationRefused = APPLICATION_REFUSED.has(code);
  }
}

/** Codes of providers for a refresh token or a code that is no longer valid. */
const CONSENT_OVER: ReadonlySet<string> = new Set([
  "invalid_grant",
  "access_denied",
  "token_revoked",
  "token_expired",
  "invalid_refresh_token",
  "account_inactive",
]);

/**
 * Codes of providers for a wrong client id, secret or permission (RFC 6749, 5.2; with Slack's and
 * GitHub's own names).
 */
const APPLICATION_REFUSED: ReadonlySet<string> = new Set([
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_client_id",
  "bad_client_secret",
  "incorrect_client_credentials",
]);
