import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The resources that a process of the test runner holds at a moment. */
export interface Held {
  /** The numbers of its living child processes. */
  readonly processes: ReadonlySet<string>;
  /** The number of handles that keep the event loop alive, by kind: servers, sockets, timers, threads. */
  readonly handles: ReadonlyMap<string, number>;
}

/**
 * Kinds of handles that a test file opens and must close. Others belong to the runner, or to work that
 * ends by itself.
 */
const KINDS: ReadonlySet<string> = new Set([
  "ProcessWrap",
  "TCPServerWrap",
  "PipeServerWrap",
  "TCPSocketWrap",
  "TLSWrap",
  "UDPWrap",
  "MessagePort",
  "Worker",
  "FSEvent",
]);
/** The time for closing, which takes longer on a busy machine. */
const TIMEOUT_MS = 20_000;
const POLL_MS = 50;

/**
 * The resources that this process holds now. Synchronous, because the test file may open more in the
 * next turn.
 */
export function look(): Held {
  const handles = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (KINDS.has(kind)) handles.set(kind, (handles.get(kind) ?? 0) + 1);
  }
  return { processes: runningChildren(), handles };
}

/**
 * Waits until this process holds no more than before. After twenty seconds it returns a line for each
 * remaining resource: a running command, or a kind of handle with its number.
 */
export async function leftSince(before: Held): Promise<string[]> {
  const until = performance.now() + TIMEOUT_MS;
  for (;;) {
    const left = differenceSince(before);
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(POLL_MS);
  }
}

function differenceSince(before: Held): string[] {
  const now = look();
  const left: string[] = [];
  for (const id of now.processes) {
    if (before.processes.has(id)) continue;
    const command = readOf(`/proc/${id}/cmdline`);
    if (command !== "") left.push(`process ${id}: ${command.replaceAll("\0", " ").trim()}`);
  }
  for (const [kind, count] of now.handles) {
    const more = count - (before.handles.get(kind) ?? 0);
    if (more > 0) left.push(`${more} × ${kind}`);
  }
  return left;
}

/** The children of all threads of this process; empty when the system does not report them. */
function runningChildren(): Set<string> {
  let threads: string[] = [];
  try {
    threads = readdirSync("/proc/self/task");
  } catch {
    // Only Linux has it.
  }
  const texts = threads.map((thread) => readOf(`/proc/self/task/${thread}/children`));
  return new Set(texts.flatMap((text) => text.split(" ")).filter((id) => id !== ""));
}

/** The text of a file of the system; empty when the process or thread has ended. */
function readOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
