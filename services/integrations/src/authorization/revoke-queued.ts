import { backoffMs } from "@workflow/async";
import type { Loop, Scope } from "@workflow/async";
import { findProvider } from "@workflow/catalog";
import type { Credentials } from "@workflow/catalog";
import type { Database } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { KeyRing } from "@workflow/sealing";
import type { Logger } from "pino";
import type { AuthorizationFlow } from "../connections/authorization-flow.ts";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";
import { openCredentials } from "../encryption/sealed-credentials.ts";
import {
  claimRevocations,
  deleteRevocation,
  isAccountInUse,
  postponeRevocation,
} from "../store/revocations.ts";
import type { RevocationRow } from "../store/revocations.ts";

/** The dependencies of revocations. */
export interface RevocationContext {
  database: Database;
  ring: KeyRing;
  flow: AuthorizationFlow;
  logger: Logger;
}

const ROUND_EVERY_MS = 15_000;
/** Limits of one round. A company whose provider hangs has at most a fifth of it. */
const TURN = { limit: 10, perCompany: 2, leaseMs: 120_000 };
const PAUSES = { firstMs: 30_000, maxMs: 6 * 60 * 60_000 } as const;
/** About three days with these pauses; tokens that were not revoked end by themselves later. */
const TRIES_MAX = 20;

/** Revokes the access of ended connections, with retries until the provider or broker has done it. */
export function startRevocations(context: RevocationContext, scope: Scope): Pick<Loop, "wake"> {
  const { wake } = scope.loop({
    name: "revocations",
    intervalMs: ROUND_EVERY_MS,
    logger: context.logger,
    run: async () => {
      const rows = await claimRevocations(context.database, TURN);
      await Promise.all(rows.map((row) => revokeOne(context, row)));
      return rows.length === 0 ? undefined : "again";
    },
  });
  return { wake };
}

async function revokeOne(context: RevocationContext, row: RevocationRow): Promise<void> {
  const { database, logger } = context;
  const { companyId, connectionId, brokerConnectionId, fields, tries } = row;
  const provider = findProvider(row.provider);
  const facts = { company: companyId, connection: connectionId, provider: row.provider, tries };
  if (provider === undefined) {
    // Only a version that knows the provider can revoke the access, so the operator has to act.
    logger.warn(facts, "access is not revoked: the catalog does not know the provider");
    const error = "The catalog does not know the provider.";
    return postponeRevocation(database, row, { pauseMs: PAUSES.maxMs, error });
  }
  try {
    // The broker revokes a single connection, but a provider ends all access of the account.
    if (brokerConnectionId === null && (await isAccountInUse(database, row))) {
      logger.info(facts, "access is not revoked: a connection uses the account");
      return await deleteRevocation(database, row);
    }
    const connection = { companyId, connectionId, provider, fields, brokerConnectionId };
    await context.flow.revoke(connection, await credentialsOf(context, row));
    await deleteRevocation(database, row);
  } catch (error) {
    if (tries >= TRIES_MAX) {
      logger.warn(
        { ...facts, err: error },
        "access was not revoked at the provider: the last try failed",
      );
      return deleteRevocation(database, row);
    }
    logger.info(
      { ...facts, err: error },
      "access was not revoked at the provider; another try follows",
    );
    await postponeRevocation(database, row, {
      pauseMs: backoffMs(tries, PAUSES),
      error: explain(error),
    });
  }
}

async function credentialsOf(
  { ring }: RevocationContext,
  row: RevocationRow,
): Promise<Credentials> {
  const { sealedCredentials: sealed, companyKeyId, kekId, wrappedKey, companyId } = row;
  if (sealed === null || companyKeyId === null || kekId === null || wrappedKey === null) return {};
  return openCredentials(ring, row, {
    sealed,
    wrappedKey: { id: companyKeyId, companyId, kekId, wrappedKey },
  });
}

/** Only our public messages, which contain no credential, are shown. */
function explain(error: unknown): string {
  if (isAppError(error)) return error.message;
  if (error instanceof AuthorizationRefusedError) return error.message;
  return "An internal error occurred.";
}
