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

/** The first fault of a chain, and the row where it shows. */
export interface BrokenChain {
  companyId: string;
  seq: number;
  /**
   * `missing`: the row does not exist; `changed`: it does not match its own hash; `detached`: it
   * does not continue the row before, which was replaced or moved; `unexpected`: it stands behind
   * the end or before the start; `trimmed`: retention has removed the anchor's row, so the anchor
   * proves nothing.
   */
  reason: "missing" | "changed" | "detached" | "unexpected" | "trimmed";
}

/** The result of a check. */
export interface AuditVerification {
  /** Companies with a log. The installation's own chain is checked too, but not counted here. */
  companies: number;
  /** Rows checked. */
  events: number;
  ok: boolean;
  firstBroken?: BrokenChain;
  /** The end of the chain, when one company was asked for; to be stored elsewhere as an anchor. */
  end?: { seq: number; hash: string };
  /** The last row that retention has removed, when one company was asked for and there is one. */
  start?: { seq: number; hash: string };
}

/** A row that somebody stored outside of the database. */
export interface Anchor {
  seq: number;
  hash: string;
}

const PAGE_ROWS = 1_000;

/**
 * The chain of events that concern no single company. Its company id belongs to no company, so no
 * key and no session can read it; `npm run admin -- audit-log` does.
 */
export const INSTALLATION = "00000000-0000-0000-0000-000000000000";

/**
 * Recomputes the chains of all companies, or of one, and compares them with the stored hashes. Rows
 * that are appended meanwhile are left to the next check. Without an anchor, a database owner who
 * rewrites a whole chain and its end, or removes both, goes undetected.
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
  // The start is read first: whatever is removed or appended afterwards, the end lies behind it.
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
      // Retention removed rows meanwhile; the check restarts where retention ended.
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

/** Whether a row differs from the anchor. */
function isOther(row: ChainPlace, anchor: Anchor | undefined): boolean {
  return anchor !== undefined && row.seq === anchor.seq && row.hashHex !== anchor.hash;
}

/** Whether rows stand behind the end although the end has not moved. */
async function isOverrun(database: Queryable, companyId: string, seq: number): Promise<boolean> {
  if (!(await hasRowAfter(database, companyId, seq))) return false;
  const end = await findChainEnd(database, companyId);
  return (end?.seq ?? 0) === seq;
}
