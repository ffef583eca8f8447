import type { Queryable } from "@workflow/db";
import { findChainEnd, hasRowAfter, listChainRows, listChains } from "../store/audit-chain.ts";
import type { ChainEnd, ChainRow } from "../store/audit-chain.ts";
import { FIRST_PREV_HASH, hashRecord } from "./audit-record.ts";

/** What is wrong with a chain, at the first row where it shows. */
export interface BrokenChain {
  companyId: string;
  seq: number;
  /**
   * `missing`: there is no such row; `changed`: it does not fit its own hash; `detached`: it does not
   * continue the row before, which was replaced or moved; `unexpected`: it stands behind the end.
   */
  reason: "missing" | "changed" | "detached" | "unexpected";
}

/** What a check of the log has found. */
export interface AuditVerification {
  companies: number;
  /** Rows looked at. */
  events: number;
  ok: boolean;
  firstBroken?: BrokenChain;
  /** The end of the chain, when one company was asked for: to be kept elsewhere, as an anchor. */
  end?: { seq: number; hash: string };
}

/** A row that is known from outside of the database. */
export interface Anchor {
  seq: number;
  hash: string;
}

const PAGE_ROWS = 1_000;

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
  let end: ChainEnd | null = null;
  for (const each of companyIds) {
    end = await findChainEnd(database, each);
    const checked = await verifyChain(database, each, end, anchor);
    events += checked.events;
    firstBroken ??= checked.broken;
  }
  return {
    companies: companyIds.length,
    events,
    ok: firstBroken === undefined,
    ...(firstBroken === undefined ? {} : { firstBroken }),
    ...(companyId === undefined || end === null
      ? {}
      : { end: { seq: end.seq, hash: end.hashHex } }),
  };
}

interface CheckedChain {
  events: number;
  broken?: BrokenChain;
}

async function verifyChain(
  database: Queryable,
  companyId: string,
  end: ChainEnd | null,
  anchor: Anchor | undefined,
): Promise<CheckedChain> {
  const untilSeq = end?.seq ?? 0;
  let last = { seq: 0, hash: FIRST_PREV_HASH };
  const brokenAt = (seq: number, reason: BrokenChain["reason"]): CheckedChain => ({
    events: last.seq,
    broken: { companyId, seq, reason },
  });
  while (last.seq < untilSeq) {
    const range = { afterSeq: last.seq, untilSeq, limit: PAGE_ROWS };
    const rows = await listChainRows(database, companyId, range);
    for (const row of rows) {
      if (row.seq !== last.seq + 1) return brokenAt(last.seq + 1, "missing");
      if (row.prevHashHex !== last.hash.toString("hex")) return brokenAt(row.seq, "detached");
      if (!fitsItsHash(row, last.hash)) return brokenAt(row.seq, "changed");
      if (row.seq === anchor?.seq && row.hashHex !== anchor.hash) {
        return brokenAt(row.seq, "changed");
      }
      last = { seq: row.seq, hash: Buffer.from(row.hashHex, "hex") };
    }
    if (rows.length === 0) return brokenAt(last.seq + 1, "missing");
  }
  if (end !== null && last.hash.toString("hex") !== end.hashHex) {
    return brokenAt(end.seq, "changed");
  }
  if (anchor !== undefined && anchor.seq > last.seq) return brokenAt(last.seq + 1, "missing");
  if (await isOverrun(database, companyId, untilSeq)) return brokenAt(untilSeq + 1, "unexpected");
  return { events: last.seq };
}

function fitsItsHash(row: ChainRow, prevHash: Buffer): boolean {
  return hashRecord(row, row.seq, prevHash).toString("hex") === row.hashHex;
}

/** Whether rows stand behind the end although it has not moved on. */
async function isOverrun(database: Queryable, companyId: string, seq: number): Promise<boolean> {
  if (!(await hasRowAfter(database, companyId, seq))) return false;
  const end = await findChainEnd(database, companyId);
  return (end?.seq ?? 0) === seq;
}
