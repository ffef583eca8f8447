import type { Queryable } from "@workflow/db";
import {
  findChainEnd,
  findChainStart,
  hasRowAfter,
  listChainRows,
  listChains,
} from "../store/audit-chain.ts";
import type { ChainEnd } from "../store/audit-chain.ts";
import { FIRST_PREV_HASH } from "./audit-record.ts";
import { findRowFault } from "./check-rows.ts";
import type { ChainPlace } from "./check-rows.ts";

/** What is wrong with a chain, at the first row where it shows. */
export interface BrokenChain {
  companyId: string;
  seq: number;
  /**
   * `missing`: there is no such row; `changed`: it does not fit its own hash; `detached`: it does not
   * continue the row before, which was replaced or moved; `unexpected`: it stands behind the end or before
   * the start; `trimmed`: retention has removed the row of the anchor, which vouches for nothing then.
   */
  reason: "missing" | "changed" | "detached" | "unexpected" | "trimmed";
}

/** What a check of the log has found. */
export interface AuditVerification {
  /** Companies with a log; the installation's own chain is checked too, but is none of them. */
  companies: number;
  /** Rows looked at. */
  events: number;
  ok: boolean;
  firstBroken?: BrokenChain;
  /** The end of the chain, when one company was asked for: to be kept elsewhere, as an anchor. */
  end?: { seq: number; hash: string };
  /** The last row that retention has removed, when one company was asked for and there is one. */
  start?: { seq: number; hash: string };
}

/** A row that is known from outside of the database. */
export interface Anchor {
  seq: number;
  hash: string;
}

const PAGE_ROWS = 1_000;

/**
 * The chain of what concerns no single company, or one that does not exist: a company id that belongs to
 * none. No key and no session can read it; `npm run admin -- audit-log` does.
 */
export const INSTALLATION = "00000000-0000-0000-0000-000000000000";

/**
 * Computes the chains of all companies, or of one, anew and compares. What is appended meanwhile is
 * left to the next time.
 *
 * Without an anchor a database owner who rewrites a whole chain and its end, or removes both, goes
 * undetected.
 */
export async function verifyAudit(
  database: Queryable,
  { companyId, anchor }: { companyId?: string | undefined; anchor?: Anchor | undefined } = {},
): Promise<AuditVerification> {
  const companyIds = companyId === undefined ? await listChains(database) : [companyId];
  let events = 0;
  let firstBroken: BrokenChain | undefined;
  let checked: CheckedChain | undefined;
  for (const each of companyIds) {
    checked = await verifyChain(database, each, anchor);
    events += checked.events;
    firstBroken ??= checked.broken;
  }
  const { end = null, start = BEGINNING } = companyId === undefined ? {} : (checked ?? {});
  return {
    companies: companyIds.filter((id) => id !== INSTALLATION).length,
    events,
    ok: firstBroken === undefined,
    ...(firstBroken === undefined ? {} : { firstBroken }),
    ...(end === null ? {} : { end: { seq: end.seq, hash: end.hashHex } }),
    ...(start.seq === 0 ? {} : { start: { seq: start.seq, hash: start.hashHex } }),
  };
}

const BEGINNING: ChainPlace = { seq: 0, hashHex: FIRST_PREV_HASH.toString("hex") };

interface CheckedChain {
  events: number;
  end: ChainEnd | null;
  start: ChainPlace;
  broken?: BrokenChain;
}

async function verifyChain(
  database: Queryable,
  companyId: string,
  anchor: Anchor | undefined,
): Promise<CheckedChain> {
  // The start first: whatever is removed or appended afterwards, the end lies behind it.
  const found = await findChainStart(database, companyId);
  const end = await findChainEnd(database, companyId);
  const start: ChainPlace = found ?? BEGINNING;
  let last = start;
  let events = 0;
  const brokenAt = (seq: number, reason: BrokenChain["reason"]): CheckedChain => ({
    events,
    end,
    start,
    broken: { companyId, seq, reason },
  });
  if (found?.isOverrun === true) return brokenAt(found.seq, "unexpected");
  if (anchor !== undefined && anchor.seq < start.seq) return brokenAt(anchor.seq, "trimmed");
  if (isOther(start, anchor)) return brokenAt(start.seq, "changed");
  const untilSeq = end?.seq ?? 0;
  while (last.seq < untilSeq) {
    const range = { afterSeq: last.seq, untilSeq, limit: PAGE_ROWS };
    const rows = await listChainRows(database, companyId, range);
    if (rows[0]?.seq !== last.seq + 1) {
      const now = await findChainStart(database, companyId);
      if (now === null || now.seq <= last.seq) return brokenAt(last.seq + 1, "missing");
      // Retention came in between; it is behind us when we begin again where it ended.
      return verifyChain(database, companyId, anchor);
    }
    for (const row of rows) {
      const fault = findRowFault(row, last);
      if (fault !== null) return brokenAt(fault === "missing" ? last.seq + 1 : row.seq, fault);
      if (isOther(row, anchor)) return brokenAt(row.seq, "changed");
      last = { seq: row.seq, hashHex: row.hashHex };
      events += 1;
    }
  }
  if (last.seq > untilSeq) return brokenAt(untilSeq + 1, "missing");
  if (end !== null && last.hashHex !== end.hashHex) {
    return brokenAt(end.seq, "changed");
  }
  if (anchor !== undefined && anchor.seq > last.seq) return brokenAt(last.seq + 1, "missing");
  if (await isOverrun(database, companyId, untilSeq)) return brokenAt(untilSeq + 1, "unexpected");
  return { events, end, start };
}

/** Whether a row is not the one that is known from outside. */
function isOther(row: ChainPlace, anchor: Anchor | undefined): boolean {
  return anchor !== undefined && row.seq === anchor.seq && row.hashHex !== anchor.hash;
}

/** Whether rows stand behind the end although it has not moved on. */
async function isOverrun(database: Queryable, companyId: string, seq: number): Promise<boolean> {
  if (!(await hasRowAfter(database, companyId, seq))) return false;
  const end = await findChainEnd(database, companyId);
  return (end?.seq ?? 0) === seq;
}
