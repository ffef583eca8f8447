import { backoffMs } from "@workflow/async";
import type { Loop, Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { Logger } from "pino";
import {
  claimLeftovers,
  deleteLeftover,
  listUsedAtBroker,
  postponeLeftover,
  restLeftover,
} from "../store/broker-leftovers.ts";
import type { LeftoverRow } from "../store/broker-leftovers.ts";
import type { Broker } from "./nango.ts";

/** The dependencies of the removal. */
export interface LeftoverContext {
  database: Database;
  /** Null without a broker; leftovers wait until there is one. */
  broker: Broker | null;
  logger: Logger;
}

const ROUND_EVERY_MS = 15_000;
/** Limits of one round. A company whose accounts can't be removed has at most a fifth of it. */
const TURN = { limit: 10, perCompany: 2, leaseMs: 120_000 };
/** The pause between polls of an open attempt, and so the longest delay until an abandoned one is noticed. */
const OPEN_PAUSE_MS = 5 * 60_000;
const PAUSES = { firstMs: 30_000, maxMs: 6 * 60 * 60_000 } as const;
/**
 * The limit of one attempt's removals in a turn, far below the turn's lease: a link can be followed any
 * number of times.
 */
const REMOVALS_MAX = 10;
/** About three days with these pauses. */
const TRIES_MAX = 20;

/**
 * Removes accounts at the broker whose attempts ended without them: the person never came back, or
 * connected a second account. Each removal is retried until the broker has done it.
 */
export function startLeftoverRemoval(
  { broker, ...context }: LeftoverContext,
  scope: Scope,
): Pick<Loop, "wake"> {
  if (broker === null) return { wake: () => {} };
  const { wake } = scope.loop({
    name: "broker-leftovers",
    intervalMs: ROUND_EVERY_MS,
    logger: context.logger,
    run: async () => {
      const rows = await claimLeftovers(context.database, TURN);
      await Promise.all(rows.map((row) => removeOne({ ...context, broker }, row)));
      return rows.length === 0 ? undefined : "again";
    },
  });
  return { wake };
}

async function removeOne(
  context: LeftoverContext & { broker: Broker },
  row: LeftoverRow,
): Promise<void> {
  const { database, logger } = context;
  if (row.isOpen) return restLeftover(database, row, OPEN_PAUSE_MS);
  const { attemptId: attempt, companyId: company, integration, tries } = row;
  const facts = { attempt, company, integration, tries };
  try {
    const { removed, left } = await removeAccounts(context, row);
    if (removed > 0) logger.info({ ...facts, removed }, "unused accounts removed at the broker");
    if (left === 0 && row.linkLeftMs === 0) return await deleteLeftover(database, row);
    const pauseMs = left === 0 ? Math.ceil(row.linkLeftMs) : 0;
    await postponeLeftover(database, row, { pauseMs, error: null });
  } catch (error) {
    if (tries >= TRIES_MAX) {
      logger.warn(
        { ...facts, err: error },
        "unused accounts stay at the broker: the last try failed",
      );
      return deleteLeftover(database, row);
    }
    logger.info({ ...facts, err: error }, "unused accounts are not removed at the broker yet");
    await postponeLeftover(database, row, {
      pauseMs: backoffMs(tries, PAUSES),
      error: explain(error),
    });
  }
}

/**
 * Removes some of the accounts that no connection of the company uses. Returns the numbers of removed
 * and remaining ones.
 */
async function removeAccounts(
  { database, broker }: LeftoverContext & { broker: Broker },
  { attemptId, companyId, integration }: LeftoverRow,
): Promise<{ removed: number; left: number }> {
  const target = { companyId, integration };
  const found = await broker.findConnections(target, attemptId);
  if (found.length === 0) return { removed: 0, left: 0 };
  const used = await listUsedAtBroker(database, companyId, found);
  const unused = found.filter((id) => !used.has(id));
  const turn = unused.slice(0, REMOVALS_MAX);
  for (const id of turn) await broker.deleteConnection(target, id);
  return { removed: turn.length, left: unused.length - turn.length };
}

/** Only our public messages, which contain no credential, are shown. */
function explain(error: unknown): string {
  return isAppError(error) ? error.message : "An internal error occurred.";
}
