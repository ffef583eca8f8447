import { setTimeout as delay } from "node:timers/promises";
import { findProvider, loginOf } from "@workflow/catalog";
import type { ProviderManifest } from "@workflow/catalog";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { KeyRing } from "@workflow/sealing";
import { scrubberOf } from "../provider-http/credential-scrubber.ts";
import { AuthorizationRefusedError } from "./authorization-refused.ts";
import { storableText } from "../provider-http/storable-text.ts";
import { sealCredentials } from "../encryption/sealed-credentials.ts";
import { changeConnection } from "../store/connection-changes.ts";
import { claimRefresh, releaseRefresh } from "../store/connection-renewals.ts";
import type { RefreshLease } from "../store/connection-renewals.ts";
import { queueUnusedGrant } from "../store/revocations.ts";
import { AuthorizationRevokedError } from "./authorization-flow.ts";
import type { AuthorizationFlow, AuthorizedConnection } from "./authorization-flow.ts";
import { LoginFailedError } from "./login.ts";
import type { LoginTokens } from "./login-tokens.ts";
import { openConnection } from "./open-connection.ts";
import type { OpenConnection } from "./open-connection.ts";

/** The dependencies of renewals. */
export interface RenewContext {
  database: Database;
  ring: KeyRing;
  flow: AuthorizationFlow;
  tokens: LoginTokens;
  renewals: RenewalsUnderWay;
}

/** The renewals of this process, by connection, so that a thousand callers share one. */
export type RenewalsUnderWay = Map<string, Promise<OpenConnection>>;

/** Tokens are renewed this long before their end, longer than any call with a token takes. */
const RENEW_AHEAD_MS = 5 * 60_000;
/** Longer than `refresh` may take. A process that dies during a renewal delays the others for this long. */
const LEASE_MS = 30_000;
/** The pauses between polls of another process's renewal; each is 1.5 times as long as the previous one. */
const POLL = { firstMs: 100, longestMs: 1_000 };
/** The stored length of a provider's message. */
const MESSAGE_CHARS_MAX = 500;
const CODE_CHARS_MAX = 100;
/** The pauses after renewals that fail because nobody answers. */
const PAUSES = { firstMs: 5_000, longestMs: 15 * 60_000 };

/**
 * The connection with credentials that are valid for a while. A token that is about to end is renewed,
 * and keys that need a token are exchanged.
 */
export async function ensureFresh(
  context: RenewContext,
  connection: OpenConnection,
): Promise<OpenConnection> {
  if (connection.status !== "active") return connection;
  const provider = requireManifest(connection);
  if (loginOf(provider) !== undefined) {
    return noteLogin(context, provider, connection, () =>
      context.tokens.addToken(provider, connection),
    );
  }
  if (provider.auth.kind !== "oauth" || !isRenewalDue(connection)) return connection;
  // Credentials that can't be renewed are used until their very end.
  if (!isRenewable(connection) && endsIn(connection) > 0) return connection;
  try {
    return await renewAccess(context, connection);
  } catch (error) {
    // Nobody answers, but the present credentials are still valid.
    if (endsIn(connection) > 0) return connection;
    throw error;
  }
}

/** Whether an authorization can be renewed; otherwise its token is used until its end. */
export function isRenewable({ credentials, brokerConnectionId }: OpenConnection): boolean {
  return brokerConnectionId !== null || credentials["refreshToken"] !== undefined;
}

/**
 * Renews the credentials, once for all replicas. A second caller waits for the outcome of the first, or
 * continues with credentials that are still valid. When the consent has ended, the connection becomes
 * expired; when keys are refused, it is in error and is returned so. A connection that can't be renewed
 * is returned unchanged.
 *
 * @throws AppError UPSTREAM_ERROR when the provider or broker does not answer, did not a moment ago, or
 * refuses this installation (OperatorFaultError); the status stays
 */
export async function renewAccess(
  context: RenewContext,
  connection: OpenConnection,
): Promise<OpenConnection> {
  const provider = requireManifest(connection);
  if (loginOf(provider) !== undefined) {
    return noteLogin(context, provider, connection, () =>
      context.tokens.replaceToken(provider, connection),
    );
  }
  if (provider.auth.kind !== "oauth") return connection;
  const { version: ifVersion } = connection;
  const expire = async (errorCode: string | null): Promise<OpenConnection> => {
    const errorMessage = "The provider has ended the authorization; connect the account again.";
    await changeConnection(context.database, connection, "expired", {
      ifVersion,
      errorMessage,
      errorCode,
    });
    return openConnection(context, connection);
  };
  if (!isRenewable(connection)) return expire(null);
  try {
    return await renewAuthorization(context, connection);
  } catch (error) {
    if (error instanceof AuthorizationRefusedError) {
      const failure = { ifVersion, errorMessage: error.message, errorCode: error.code };
      await changeConnection(context.database, connection, "failed", failure);
      return openConnection(context, connection);
    }
    if (error instanceof AuthorizationRevokedError) return expire(error.code);
    throw error;
  }
}

/**
 * Renews an authorization. Concurrent callers in this process share the outcome.
 *
 * @param isForced whether to try although a renewal failed a moment ago
 * @throws AuthorizationRevokedError, AuthorizationRefusedError, AppError UPSTREAM_ERROR; the caller
 * changes the connection's status
 */
export async function renewAuthorization(
  context: RenewContext,
  connection: OpenConnection,
  { isForced = false } = {},
): Promise<OpenConnection> {
  const { companyId, connectionId, version } = connection;
  // The key includes the options that change the outcome: valid credentials and forced renewals.
  const name = [companyId, connectionId, version, isForced, endsIn(connection) > 0].join(" ");
  const shared = context.renewals.get(name);
  if (shared !== undefined) return shared;
  const renewal = renewNow(context, connection, isForced).finally(() =>
    context.renewals.delete(name),
  );
  context.renewals.set(name, renewal);
  return renewal;
}

async function renewNow(
  context: RenewContext,
  connection: OpenConnection,
  isForced: boolean,
): Promise<OpenConnection> {
  const { version } = connection;
  const terms = { version, leaseMs: LEASE_MS, isForced };
  const claim = await claimRefresh(context.database, connection, terms);
  if (claim.is === "claimed") return renewClaimed(context, connection, claim.lease);
  if (endsIn(connection) > 0) return connection;
  if (claim.is === "taken") return waitForRenewal(context, connection);
  throw new AppError(
    "UPSTREAM_ERROR",
    "The provider could not renew the authorization a moment ago; it is asked again soon.",
  );
}

async function renewClaimed(
  context: RenewContext,
  connection: OpenConnection,
  lease: RefreshLease,
): Promise<OpenConnection> {
  const { database } = context;
  const { version: ifVersion } = lease;
  try {
    const renewed = await context.flow.refresh(
      authorizedConnection(connection),
      connection.credentials,
    );
    const credentials = await sealCredentials(context, connection, renewed.credentials);
    const row = await changeConnection(database, connection, "refreshed", {
      ifVersion,
      credentials,
      credentialsExpireAt: renewed.expiresAt,
      fields: renewed.fields,
      synced: true,
    });
    // The connection was ended or authorized again meanwhile; the queued revocation has the former
    // token only.
    if (row === null && connection.brokerConnectionId === null) {
      const { provider, fields, externalAccountId } = connection;
      const unused = { provider, fields, credentials, externalAccountId, brokerConnectionId: null };
      await queueUnusedGrant(database, connection, unused);
    }
  } catch (error) {
    await releaseRefresh(database, connection, lease, PAUSES);
    throw error;
  }
  return openConnection(context, connection);
}

/** Waits until there are new credentials, or the other process has given up. */
async function waitForRenewal(
  context: RenewContext,
  connection: OpenConnection,
): Promise<OpenConnection> {
  const { version, status } = connection;
  const deadline = Date.now() + LEASE_MS;
  let pauseMs = POLL.firstMs;
  while (Date.now() < deadline) {
    await delay(pauseMs);
    pauseMs = Math.min(1.5 * pauseMs, POLL.longestMs);
    const current = await openConnection(context, connection);
    if (current.version !== version || current.status !== status) return current;
    const terms = { version, leaseMs: LEASE_MS, isForced: false };
    const claim = await claimRefresh(context.database, current, terms);
    if (claim.is === "claimed") return renewClaimed(context, current, claim.lease);
    if (claim.is === "paused") break;
  }
  throw new AppError("UPSTREAM_ERROR", "The provider does not renew the authorization in time.");
}

/** Puts the connection into error when the login refuses its keys. */
async function noteLogin(
  { database, ring }: RenewContext,
  provider: ProviderManifest,
  connection: OpenConnection,
  logIn: () => Promise<OpenConnection>,
): Promise<OpenConnection> {
  try {
    return await logIn();
  } catch (error) {
    if (!(error instanceof LoginFailedError)) throw error;
    const { is, code, message } = error.verdict;
    const { beginning } = scrubberOf(provider, connection);
    const errorMessage = storableText(await beginning(message, MESSAGE_CHARS_MAX));
    if (is === "unknown") throw new AppError("UPSTREAM_ERROR", errorMessage, { cause: error });
    await changeConnection(database, connection, "failed", {
      ifVersion: connection.version,
      errorMessage,
      errorCode: code === null ? null : storableText(await beginning(code, CODE_CHARS_MAX)),
    });
    return openConnection({ database, ring }, connection);
  }
}

/** The part of a connection that the authorization flow needs. */
function authorizedConnection(connection: OpenConnection): AuthorizedConnection {
  const { companyId, connectionId, fields, brokerConnectionId } = connection;
  const provider = requireManifest(connection);
  return { companyId, connectionId, provider, fields, brokerConnectionId };
}

/** The manifest of a stored connection's provider. */
export function requireManifest({ provider: id }: { provider: string }): ProviderManifest {
  const provider = findProvider(id);
  if (provider !== undefined) return provider;
  throw new AppError("INTERNAL_ERROR", "An internal error occurred.", {
    internal: `the catalog has no provider ${id}, which a stored connection has`,
  });
}

/** Whether the time for a renewal has come: some minutes before the end, or half of a short life. */
function isRenewalDue(connection: OpenConnection): boolean {
  const { changedAt, expiresAt } = connection;
  if (expiresAt === null) return false;
  const lifeMs = expiresAt.getTime() - (changedAt ?? expiresAt).getTime();
  return endsIn(connection) < Math.min(RENEW_AHEAD_MS, lifeMs / 2);
}

/** The time until the credentials end, in milliseconds; infinite when no end is known. */
function endsIn({ expiresAt }: OpenConnection): number {
  return expiresAt === null ? Infinity : expiresAt.getTime() - Date.now();
}
