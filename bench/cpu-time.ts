import { readFileSync } from "node:fs";

const MS_PER_TICK = 10;

/**
 * The processor time that a process has used so far, in milliseconds, all its threads together; in
 * steps of 10 ms. NaN where the system does not tell (only Linux does).
 */
export function cpuTimeMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; user and system time are 12th and 13th after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  } catch {
    return Number.NaN;
  }
}
