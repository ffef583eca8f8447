import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { findChainStart, listChainRows } from "../store/audit-chain.ts";
import { listFirstRows, tryLockTrim, trimChain } from "../store/audit-trim.ts";
import type { FirstRow } from "../store/audit-trim.ts";
import { FIRST_PREV_HASH } from "./audit-record.ts";
import { findRowFault } from "./check-rows.ts";
import type { ChainPlace } from "./check-rows.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const INTERVAL_MS = 60 * 60 * 1_000;
const CHAINS = 200;
/** The rows that one transaction checks and removes: some 50 ms. */
const ROWS = 1_000;
const BEGINNING: ChainPlace = { seq: 0, hashHex: FIRST_PREV_HASH.toString("hex") };

/** The dependencies of the retention. */
export interface AuditRetentionOptions {
  database: Database;
  logger: Logger;
  /** Days for which rows are kept, at least 30; 0 keeps them for ever. */
  days: number;
}

/** Removes old rows once an hour, until the scope ends. */
export function startAuditRetention(options: AuditRetentionOptions, scope: Scope): void {
  if (options.days === 0) return;
  scope.loop({
    name: "audit-retention",
    intervalMs: INTERVAL_MS,
    logger: options.logger,
    run: (signal) => trimAudit(options, signal),
  });
}

/** Removes old rows from the beginnings of all chains (D58); of several gateways one does it. */
export async function trimAudit(
  { database, logger, days }: AuditRetentionOptions,
  signal: AbortSignal,
): Promise<void> {
  const horizon = new Date(Date.now() - days * DAY_MS);
  let after: string | null = null;
  while (!signal.aborted) {
    const chains: readonly FirstRow[] = await listFirstRows(database, {
      after,
      limit: CHAINS,
      horizon,
    });
    const last = chains.at(-1);
    if (last === undefined) return;
    for (const { companyId } of chains.filter(({ isDue }) => isDue)) {
      const removed = await trimWholeChain(database, companyId, horizon, signal);
      if (removed === "busy") return;
      if (removed.rows > 0) logger.info({ companyId, ...removed }, "old audit events were removed");
      if (removed.isBroken) {
        logger.error({ companyId }, "an audit chain is broken and is kept; see verify-audit");
      }
    }
    after = last.companyId;
  }
}

interface Trimmed {
  rows: number;
  /** The chain is broken here; the evidence is left where it is. */
  isBroken: boolean;
}

/**
 * Removes the old rows of one chain, one batch a transaction; "busy" when another gateway does it.
 */
async function trimWholeChain(
  database: Database,
  companyId: string,
  horizon: Date,
  signal: AbortSignal,
): Promise<Trimmed | "busy"> {
  let rows = 0;
  while (!signal.aborted) {
    const batch = await trimBatch(database, companyId, horizon);
    if (batch === "busy") return batch;
    rows += batch.rows;
    if (batch.isBroken || batch.rows < ROWS) return { rows, isBroken: batch.isBroken };
  }
  return { rows, isBroken: false };
}

function trimBatch(
  database: Database,
  companyId: string,
  horizon: Date,
): Promise<Trimmed | "busy"> {
  return database.transaction(async (transaction) => {
    if (!(await tryLockTrim(transaction))) return "busy";
    const start: ChainPlace = (await findChainStart(transaction, companyId)) ?? BEGINNING;
    const range = { afterSeq: start.seq, untilSeq: Number.MAX_SAFE_INTEGER, limit: ROWS };
    let last = start;
    let isBroken = false;
    for (const row of await listChainRows(transaction, companyId, range)) {
      if (row.createdAt >= horizon) break;
      isBroken = findRowFault(row, last) !== null;
      if (isBroken) break;
      last = row;
    }
    const rows = last === start ? 0 : await trimChain(transaction, companyId, last.seq);
    return { rows, isBroken };
  });
}
