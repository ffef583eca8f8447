/** The provider, or a check of what came from it, has said no; asking again does not help. */
export class AuthorizationRefusedError extends Error {
  override readonly name = "AuthorizationRefusedError";
  /** The provider's code, in its own form: `invalid_grant`. */
  readonly code: string;
  /** Whether the consent is over (RFC 6749, 5.2), rather than the application or request at fault. */
  readonly isConsentOver: boolean;
  /** Whether our own application at the provider is refused: no account's person can mend that. */
  readonly isApplicationRefused: boolean;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.isConsentOver = CONSENT_OVER.has(code);
    this.isApplicationRefused = APPLICATION_REFUSED.has(code);
  }
}

/** What providers say when a refresh token or a code is not good any more. */
const CONSENT_OVER: ReadonlySet<string> = new Set([
  "invalid_grant",
  "access_denied",
  "token_revoked",
  "token_expired",
  "invalid_refresh_token",
  "account_inactive",
]);

/** What providers say of the client's id, secret or rights (RFC 6749, 5.2; Slack's, GitHub's names of them). */
const APPLICATION_REFUSED: ReadonlySet<string> = new Set([
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_client_id",
  "bad_client_secret",
  "incorrect_client_credentials",
]);
