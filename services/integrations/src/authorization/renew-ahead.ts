import type { Scope } from "@workflow/async";
import { isAppError } from "@workflow/errors";
import type { Logger } from "pino";
import { openConnection } from "../connections/open-connection.ts";
import type { OpenConnection } from "../connections/open-connection.ts";
import { isRenewable, renewAccess, requireManifest } from "../connections/renew-access.ts";
import type { RenewContext } from "../connections/renew-access.ts";
import { listEndingConnections, postponeRenewal } from "../store/connection-renewals.ts";
import type { EndingConnection } from "../store/connection-renewals.ts";

const ROUND_EVERY_MS = 20_000;
/** Earlier than the renewal by a connection's users, so that steps seldom wait for a provider. */
const AHEAD_MS = 15 * 60_000;
/** The pause after a renewal, even when a provider's tokens end at once. */
const REST_MS = 60_000;
/** Limits of one round of a process. A company whose provider hangs occupies at most two of ten places. */
const TURN = { aheadMs: AHEAD_MS, restMs: REST_MS, limit: 10, perCompany: 2 };
/** A short pause, because another replica may have the key that this one lacks. */
const UNREADABLE_MS = 60_000;
/** The longest pause, even for credentials that end in months; a day fits the database's integers. */
const LONGEST_PAUSE_MS = 24 * 60 * 60_000;

/** Renews the credentials of all companies before they end, even those of unused connections. */
export function startRenewals(context: RenewContext & { logger: Logger }, scope: Scope): void {
  scope.loop({
    name: "connection-renewals",
    intervalMs: ROUND_EVERY_MS,
    logger: context.logger,
    run: async () => {
      const ending = await listEndingConnections(context.database, TURN);
      await Promise.all(ending.map((each) => renewOne(context, each)));
      // Every listed connection now has a pause, a lease, new credentials or another status, so the
      // next list differs.
      return ending.length === 0 ? undefined : "again";
    },
  });
}

/** Renews one connection, unless another replica was faster. */
async function renewOne(
  context: RenewContext & { logger: Logger },
  ending: EndingConnection,
): Promise<void> {
  try {
    const connection = await openRenewable(context, ending);
    if (connection !== null) await renewAccess(context, connection);
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { companyId: company, connectionId: connection } = ending;
    context.logger.info({ err: error, company, connection }, "a connection was not renewed yet");
  }
}

/**
 * Null when there is nothing to renew. An unchanged connection gets a pause; otherwise it would come
 * first for ever.
 */
async function openRenewable(
  context: RenewContext,
  ending: EndingConnection,
): Promise<OpenConnection | null> {
  try {
    const connection = await openConnection(context, ending);
    // The connection was renewed since it was listed. A second renewal would only spend a refresh
    // token.
    const { status, version, expiresAt } = connection;
    const isOpen = status === "active" || status === "error";
    if (!isOpen || version !== ending.version) return null;
    const isOAuth = requireManifest(connection).auth.kind === "oauth";
    const endsInMs = expiresAt === null ? 0 : expiresAt.getTime() - Date.now();
    if (isOAuth && (isRenewable(connection) || endsInMs <= 0)) return connection;
    // The authorization of a bank is never renewed, whatever end the broker reports. Credentials that
    // can't be renewed are valid until their end, and then expired.
    const pauseMs = isOAuth ? Math.min(endsInMs, LONGEST_PAUSE_MS) : LONGEST_PAUSE_MS;
    await postponeRenewal(context.database, ending, pauseMs);
    return null;
  } catch (error) {
    await postponeRenewal(context.database, ending, UNREADABLE_MS);
    throw error;
  }
}
