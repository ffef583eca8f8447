import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";

const KIB_PER_MB = 1_000_000 / 1_024;
const ANSWER_MS = 30_000;

/** The resident set of a process in MB (10⁶ bytes); NaN where the system does not tell. */
export function residentMb(pid: number): number {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kib) / KIB_PER_MB;
  } catch {
    return Number.NaN;
  }
}

/**
 * Has a Node process collect its garbage, through the debugger that it opens on SIGUSR1.
 *
 * @param stderr of the process, in text; it tells there where its debugger listens
 */
export async function collectGarbage(pid: number, stderr: Readable): Promise<void> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const url = findDebugger(stderr, signal);
  process.kill(pid, "SIGUSR1");
  const socket = new WebSocket(await url);
  try {
    await once(socket, "open", { signal });
    socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" }));
    await once(socket, "message", { signal });
  } finally {
    socket.close();
  }
}

async function findDebugger(stderr: Readable, signal: AbortSignal): Promise<string> {
  for (let output = ""; ;) {
    const [chunk] = await once(stderr, "data", { signal });
    output += String(chunk);
    const [, url] = /Debugger listening on (ws:\/\/\S+)/.exec(output) ?? [];
    if (url !== undefined) return url;
  }
}
