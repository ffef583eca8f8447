import { readFileSync } from "node:fs";

const MS_PER_TICK = 10;

/**
 * The processor time of a process and all its threads so far, in milliseconds, in steps of 10 ms. NaN on systems
 * other than Linux.
 */
export function cpuTimeMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; user and system time are the 12th and 13th field after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  } catch {
    return Number.NaN;
  }
}
