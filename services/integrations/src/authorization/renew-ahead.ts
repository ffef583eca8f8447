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
/** Earlier than whoever uses a connection renews it, so that steps seldom wait for a provider. */
const AHEAD_MS = 15 * 60_000;
/** A provider may give tokens that end at once: they are no reason to ask it again without a pause. */
const REST_MS = 60_000;
/** Ten at once in a process; a company whose provider hangs holds up two of them. */
const TURN = { aheadMs: AHEAD_MS, restMs: REST_MS, limit: 10, perCompany: 2 };
/** Short, as another replica may have the key that this one lacks. */
const UNREADABLE_MS = 60_000;
/** The longest pause, also of what ends in months: a day fits the database's integers. */
const LONGEST_PAUSE_MS = 24 * 60 * 60_000;

/** Renews credentials before they end, of all companies, also of connections that nobody uses. */
export function startRenewals(context: RenewContext & { logger: Logger }, scope: Scope): void {
  scope.loop({
    name: "connection-renewals",
    intervalMs: ROUND_EVERY_MS,
    logger: context.logger,
    run: async () => {
      const ending = await listEndingConnections(context.database, TURN);
      await Promise.all(ending.map((each) => renewOne(context, each)));
      // Each has a pause, a lease, or other credentials or another status now, so it is not listed again.
      return ending.length === 0 ? undefined : "again";
    },
  });
}

/** Another replica may be faster; then nothing is left to do. */
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

/** Null when it is not to be renewed. What is left as it is gets a pause: else it would come first for ever. */
async function openRenewable(
  context: RenewContext,
  ending: EndingConnection,
): Promise<OpenConnection | null> {
  try {
    const connection = await openConnection(context, ending);
    // Renewed since it was listed: once more would spend a refresh token, and nothing has ended.
    const { status, version, expiresAt } = connection;
    const isOpen = status === "active" || status === "error";
    if (!isOpen || version !== ending.version) return null;
    const isOAuth = requireManifest(connection).auth.kind === "oauth";
    const endsInMs = expiresAt === null ? 0 : expiresAt.getTime() - Date.now();
    if (isOAuth && (isRenewable(connection) || endsInMs <= 0)) return connection;
    // Whatever the broker says of its end: what authorizes a bank is not renewed. What has nothing to be
    // renewed by is good until its end, and expired then.
    const pauseMs = isOAuth ? Math.min(endsInMs, LONGEST_PAUSE_MS) : LONGEST_PAUSE_MS;
    await postponeRenewal(context.database, ending, pauseMs);
    return null;
  } catch (error) {
    await postponeRenewal(context.database, ending, UNREADABLE_MS);
    throw error;
  }
}
