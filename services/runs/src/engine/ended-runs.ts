import { LRUCache } from "lru-cache";
import type { RunChange } from "../domain/step-records.ts";

/** Run ids per notification: a payload has 8,000 bytes at most, an id has 30. */
const IDS_PER_NOTIFICATION = 200;

/**
 * The channel for runs that have ended while a caller waits for them. The payload is a comma-separated
 * list of run ids.
 */
export const ENDED_CHANNEL = "runs_ended";

/** Lets callers wait for the end of a run. */
export interface EndedRuns {
  /**
   * Waits for the end of a run. `isEnded` is asked when a notification may have been missed.
   *
   * @returns how the run ended when this process executed it, `ended` when another did, `timeout` after
   * `timeoutMs` or when the signal is aborted, `left` once nobody may wait here any more
   */
  wait(
    runId: string,
    timeoutMs: number,
    isEnded: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<WaitOutcome>;
  /** Announces how a run that this process executed has ended. The end is committed. */
  announceEnd(runId: string, end: RunChange): void;
  /** Announces that runs have ended, in this process or another. */
  announce(runIds: readonly string[]): void;
  /** Ends all waits, later ones included: the process stops, while the runs go on. */
  endWaits(): void;
  /** Asks every waiter's `isEnded` again, after the connection for notifications was cut. */
  recheck(): void;
}

/** The result of waiting for the end of a run. */
type WaitOutcome = RunChange | "ended" | "timeout" | "left";

interface Waiter {
  end: (outcome: WaitOutcome) => void;
  isEnded: () => Promise<boolean>;
}

/** Announcements are kept for this long, since one may overtake the answer that the run was stored. */
const ANNOUNCED_MS = 10_000;
const ANNOUNCED_MAX = 1_000;

/** Makes an empty waiting room for this process. */
export function createEndedRuns(): EndedRuns {
  const announced = new LRUCache<string, RunChange | "ended">({
    max: ANNOUNCED_MAX,
    ttl: ANNOUNCED_MS,
  });
  const waiters = new Map<string, Set<Waiter>>();
  let isLeft = false;

  const check = async (waiter: Waiter): Promise<void> => {
    try {
      if (await waiter.isEnded()) waiter.end("ended");
    } catch {
      // The database is away: the next notification, recheck or timeout ends the wait.
    }
  };

  const announceOne = (runId: string, outcome: RunChange | "ended"): void => {
    if (!announced.has(runId)) announced.set(runId, outcome);
    for (const waiter of waiters.get(runId) ?? []) waiter.end(outcome);
  };

  return {
    wait(runId, timeoutMs, isEnded, signal) {
      const known = announced.get(runId);
      if (known !== undefined) return Promise.resolve(known);
      if (isLeft) return Promise.resolve("left");
      return new Promise((resolve) => {
        const waiter: Waiter = { end: () => {}, isEnded };
        const timer = setTimeout(() => waiter.end("timeout"), timeoutMs);
        const onAbort = (): void => waiter.end("timeout");
        waiter.end = (outcome) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", onAbort);
          const others = waiters.get(runId);
          others?.delete(waiter);
          if (others?.size === 0) waiters.delete(runId);
          resolve(outcome);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        const others = waiters.get(runId) ?? new Set();
        waiters.set(runId, others.add(waiter));
        if (signal.aborted) onAbort();
      });
    },
    announceEnd: announceOne,
    announce(runIds) {
      for (const runId of runIds) announceOne(runId, "ended");
    },
    endWaits() {
      isLeft = true;
      for (const others of waiters.values()) for (const waiter of others) waiter.end("left");
    },
    recheck() {
      for (const others of waiters.values()) for (const waiter of others) void check(waiter);
    },
  };
}

/** The payloads that announce these runs on `ENDED_CHANNEL`. */
export function endedPayloads(runIds: readonly string[]): string[] {
  const payloads: string[] = [];
  for (let start = 0; start < runIds.length; start += IDS_PER_NOTIFICATION) {
    payloads.push(runIds.slice(start, start + IDS_PER_NOTIFICATION).join(","));
  }
  return payloads;
}
