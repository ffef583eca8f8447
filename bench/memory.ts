import { readFileSync } from "node:fs";

const KIB_PER_MB = 1_000_000 / 1_024;

/** The resident set of a process in MB (10⁶ bytes); NaN where the system does not tell. */
export function residentMb(pid: number): number {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kib) / KIB_PER_MB;
  } catch {
    return Number.NaN;
  }
}
