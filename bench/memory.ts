import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { z } from "zod";

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
 * The memory of a Node process after garbage collection: JavaScript's heap, and buffers beside it.
 */
const HELD = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";
const evaluated = z.object({ result: z.object({ result: z.object({ value: z.number() }) }) });

/**
 * Lets a Node process collect its garbage, through the debugger that SIGUSR1 opens.
 * @param stderr the process's standard error, which tells the debugger's address
 * @returns the memory after that, in MB (10⁶ bytes)
 */
export type CollectGarbage = () => Promise<number>;

/** @see CollectGarbage */
export function garbageCollectorOf(pid: number, stderr: Readable): CollectGarbage {
  let debuggerUrl: string | undefined;
  return async () => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    if (debuggerUrl === undefined) {
      const url = findDebugger(stderr, signal);
      process.kill(pid, "SIGUSR1");
      debuggerUrl = await url;
    }
    const socket = new WebSocket(debuggerUrl);
    try {
      await once(socket, "open", { signal });
      await ask(socket, { method: "HeapProfiler.collectGarbage" }, signal);
      const params = { expression: HELD, returnByValue: true };
      const answer = await ask(socket, { method: "Runtime.evaluate", params }, signal);
      return evaluated.parse(answer).result.result.value / 1_000_000;
    } finally {
      socket.close();
    }
  };
}

async function ask(socket: WebSocket, command: object, signal: AbortSignal): Promise<unknown> {
  socket.send(JSON.stringify({ id: 1, ...command }));
  const [message] = await once(socket, "message", { signal });
  return JSON.parse(String(message.data));
}

async function findDebugger(stderr: Readable, signal: AbortSignal): Promise<string> {
  for (let output = ""; ;) {
    const [chunk] = await once(stderr, "data", { signal });
    output += String(chunk);
    const [, url] = /Debugger listening on (ws:\/\/\S+)/.exec(output) ?? [];
    if (url !== undefined) return url;
  }
}
