import type { ConnectionFields, Credentials, ProviderManifest } from "@workflow/catalog";
import type { RpcContext } from "@workflow/rpc";
import type { ConnectionKey } from "../domain/connection-key.ts";

/** What an authorization is asked for. */
export interface AuthorizationRequest extends ConnectionKey {
  provider: ProviderManifest;
  /** The connection's name, for whoever shows it to the person. */
  name: string;
  /** What is known before and may stand in the provider's addresses: NetSuite's `accountId`. */
  fields: ConnectionFields;
  /** Where the person goes afterwards; null: nowhere (D39). */
  redirectUrl: string | null;
  /** Where people reach the gateway, without a slash at the end: `https://workflows.example.com`. */
  publicOrigin: string;
  /** Who asks for it. */
  call: Pick<RpcContext, "identity" | "signal">;
}

/** What the provider or the broker gave for an account that was authorized. */
export interface GrantedAccess {
  credentials: Credentials;
  /** When the access token ends; null when nothing says so. */
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
  /** Fields that came with them, merged into the connection's. */
  fields?: ConnectionFields | undefined;
}

/** A connection whose account was authorized. */
export interface AuthorizedConnection extends ConnectionKey {
  provider: ProviderManifest;
  fields: ConnectionFields;
  brokerConnectionId: string | null;
}

/** The provider or the broker has said no for good: the account has to be authorized again. */
export class AuthorizationRevokedError extends Error {
  override readonly name = "AuthorizationRevokedError";
  /** The provider's code, where it gives one: `invalid_grant`. */
  readonly code: string | null;

  constructor(message: string, code: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** How accounts at OAuth providers and banks are connected, through the broker or without one (D38). */
export interface AuthorizationFlow {
  /** @throws AppError BAD_REQUEST naming the missing setting when this provider cannot be connected */
  requireAvailable(provider: ProviderManifest): void;
  /**
   * Begins an authorization of a connection that exists.
   *
   * @throws AppError UPSTREAM_ERROR
   */
  begin(request: AuthorizationRequest): Promise<{ url: string }>;
  /**
   * Renews the credentials. It only talks to the provider or broker: the caller makes sure that one process
   * does this at a time, and stores the result.
   *
   * @throws AuthorizationRevokedError, AuthorizationRefusedError for another refusal for good, AppError
   * UPSTREAM_ERROR when nobody answers, or this installation is refused (OperatorFaultError)
   */
  refresh(connection: AuthorizedConnection, credentials: Credentials): Promise<RenewedAccess>;
  /**
   * Revokes the access and removes the connection at the broker.
   *
   * @throws AppError UPSTREAM_ERROR
   */
  revoke(connection: AuthorizedConnection, credentials: Credentials): Promise<void>;
}
