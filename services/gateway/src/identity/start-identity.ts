import type { Scope } from "@workflow/async";
import { databaseErrorToAppError, listen } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { createRefusedSignIns } from "./refused-sign-ins.ts";
import { createSignInGuard } from "./sign-in-guard.ts";
import type { SignInGuard } from "./sign-in-guard.ts";
import { deleteOldAccountTries } from "../store/account-tries.ts";
import { updateKeysLastUsed, updateSessionsLastUsed } from "../store/last-used.ts";
import { deleteEndedSessions } from "../store/sessions.ts";
import { deleteOldTries } from "../store/sign-in-tries.ts";
import type { Registry } from "prom-client";
import { createAuthenticator } from "../auth/authenticator.ts";
import type { CachingAuthenticator } from "../auth/authenticator.ts";
import { IDENTITY_CHANNEL, parseChange } from "../domain/identity-change.ts";
import { createLastUsedRecorder } from "../auth/last-used.ts";
import type { LastUsedRecorder } from "../auth/last-used.ts";
import { TRY_WINDOW_MS } from "../auth/sign-in-limits.ts";

export interface IdentityOptions {
  database: Database;
  databaseUrl: string;
  role: string;
  logger: Logger;
  metricsRegistry?: Registry | undefined;
}

const FLUSH_MS = 5_000;
const REFUSED_FLUSH_MS = 1_000;
const CLEAN_MS = 60_000;

/** The authentication of a gateway. */
export interface RunningIdentity {
  authenticator: CachingAuthenticator;
  signIns: SignInGuard;
}

/**
 * The authenticator of a gateway with its background work: it receives changes from other gateways,
 * stores last uses and refused sign-ins, and deletes expired sessions and counters.
 */
export async function startIdentity(
  { database, databaseUrl, role, logger, metricsRegistry }: IdentityOptions,
  scope: Scope,
): Promise<RunningIdentity> {
  const keys = createLastUsedRecorder((uses) => updateKeysLastUsed(database, uses));
  const sessions = createLastUsedRecorder((uses) => updateSessionsLastUsed(database, uses));
  const authenticator = createAuthenticator({
    database,
    metricsRegistry,
    onKeyUse: (id) => keys.record(id),
    onSessionUse: (id) => sessions.record(id),
    toAppError: databaseErrorToAppError,
  });
  const listener = await listen({
    connectionUri: databaseUrl,
    role,
    channels: [IDENTITY_CHANNEL],
    onNotification: (_channel, payload) => authenticator.invalidate(parseChange(payload)),
    // Notifications sent while the connection was down are lost.
    onReconnect: () => authenticator.invalidate(),
    // Without notifications a change takes effect when the cached entry expires, within 5 s.
    onError: (error) => logger.warn({ err: error }, "could not listen for changes of access"),
  });
  scope.defer(() => listener.stop());
  const refused = createRefusedSignIns(database, logger);
  const flush = async (): Promise<void> => {
    await flushAll([keys, sessions]);
  };
  // A last write at the very end, for uses of the last seconds.
  scope.defer(async () => {
    await flush().catch((error: unknown) => {
      logger.warn({ err: error }, "the last uses of keys and sessions were not recorded");
    });
    await refused.flush().catch((error: unknown) => {
      logger.warn({ err: error }, "the last refused sign-ins are missing from the audit log");
    });
  });
  scope.loop({ name: "last-used", intervalMs: FLUSH_MS, logger, run: flush });
  scope.loop({
    name: "refused-sign-ins",
    intervalMs: REFUSED_FLUSH_MS,
    logger,
    run: () => refused.flush(),
  });
  const clean = async (): Promise<void> => {
    await deleteOldTries(database, TRY_WINDOW_MS);
    await deleteOldAccountTries(database);
    await deleteEndedSessions(database);
  };
  scope.loop({ name: "identity-clean-up", intervalMs: CLEAN_MS, logger, run: clean });
  return { authenticator, signIns: createSignInGuard(database, refused) };
}

async function flushAll(recorders: readonly LastUsedRecorder[]): Promise<void> {
  for (const recorder of recorders) await recorder.flush();
}
