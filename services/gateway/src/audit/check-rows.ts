import type { ChainRow } from "../store/audit-chain.ts";
import { hashRecord } from "./audit-record.ts";

/** A row of a chain, against which the next row is checked. */
export interface ChainPlace {
  seq: number;
  /** Hexadecimal. */
  hashHex: string;
}

/** The fault of a row; see BrokenChain. */
export type RowFault = "missing" | "detached" | "changed";

/** The fault of a row that should follow another; null when it is sound. */
export function findRowFault(row: ChainRow, last: ChainPlace): RowFault | null {
  if (row.seq !== last.seq + 1) return "missing";
  if (row.prevHashHex !== last.hashHex) return "detached";
  const hash = hashRecord(row, row.seq, Buffer.from(last.hashHex, "hex")).toString("hex");
  return hash === row.hashHex ? null : "changed";
}
