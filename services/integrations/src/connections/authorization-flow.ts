import type { ConnectionFields, Credentials, ProviderManifest } from "@workflow/catalog";
import type { RpcContext } from "@workflow/rpc";
import type { ConnectionKey } from "../domain/connection-key.ts";

/** The account to connect. */
export interface AuthorizationRequest extends ConnectionKey {
  provider: ProviderManifest;
  /** The connection's name, as shown to the person. */
  name: string;
  /** Known fields that may be part of the provider's addresses: NetSuite's `accountId`. */
  fields: ConnectionFields;
  /** The address where the person goes afterwards; null without one (D39). */
  redirectUrl: string | null;
  /** The public origin of the gateway, without a trailing slash: `https://workflows.example.com`. */
  publicOrigin: string;
  /** The caller. */
  call: Pick<RpcContext, "identity" | "signal">;
}

/** The access that the provider or the broker granted for an account. */
export interface GrantedAccess {
  credentials: Credentials;
  /** The end of the access token; null when unknown. */
  expiresAt: Date | null;
  fields: ConnectionFields;
  externalAccountId: string | null;
  /** The connection's id at the broker; null without one. */
  brokerConnectionId: string | null;
}

/** Credentials that were renewed. */
export interface RenewedAccess {
  credentials: Credentials;
  expiresAt: Date | null;
  /** Fields of the answer, which are merged into the connection's. */
  fields?: ConnectionFields | undefined;
}

/** A connection to an authorized account. */
export interface AuthorizedConnection extends ConnectionKey {
  provider: ProviderManifest;
  fields: ConnectionFields;
  brokerConnectionId: string | null;
}

/** The provider or the broker has refused for good: the account must be authorized again. */
export class AuthorizationRevokedError extends Error {
  override readonly name = "AuthorizationRevokedError";
  /** The provider's code, such as `invalid_grant`; null without one. */
  readonly code: string | null;

  constructor(message: string, code: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Connects accounts at OAuth providers and banks, through the broker or directly (D38). */
export interface AuthorizationFlow {
  /** @throws AppError BAD_REQUEST naming the missing setting when this provider cannot be connected */
  requireAvailable(provider: ProviderManifest): void;
  /**
   * Begins an authorization of an existing connection.
   *
   * @throws AppError UPSTREAM_ERROR
   */
  begin(request: AuthorizationRequest): Promise<{ url: string }>;
  /**
   * Renews the credentials at the provider or broker. The caller makes sure that one process does this
   * at a time, and stores the result.
   *
   * @throws AuthorizationRevokedError; AuthorizationRefusedError for another permanent refusal;
   * AppError UPSTREAM_ERROR when nobody answers, or this installation is refused (OperatorFaultError)
   */
  refresh(connection: AuthorizedConnection, credentials: Credentials): Promise<RenewedAccess>;
  /**
   * Revokes the access and removes the connection at the broker.
   *
   * @throws AppError UPSTREAM_ERROR
   */
  revoke(connection: AuthorizedConnection, credentials: Credentials): Promise<void>;
}
