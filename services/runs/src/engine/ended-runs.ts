import { LRUCache } from "lru-cache";
import type { RunChange } from "../domain/step-records.ts";

/** Run ids per notification: a payload may have 8,000 bytes, an id has 30. */
const IDS_PER_NOTIFICATION = 200;

/** A run that a caller waits for has ended. The payload is a comma-separated list of run ids. */
export const ENDED_CHANNEL = "runs_ended";

/** Tells those who wait for the end of a run that it has come. */
export interface EndedRuns {
  /**
   * Resolves with how the run ended when it was executed here, with `ended` when it was elsewhere,
   * with `timeout` after `timeoutMs` or when the signal is aborted, and with `left` when nobody waits here
   * any more. `isEnded` is asked when a
   * notification may have been missed.
   */
  wait(
    runId: string,
    timeoutMs: number,
    isEnded: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<WaitOutcome>;
  /** Says how a run that this process executed has ended; it is committed. */
  announceEnd(runId: string, end: RunChange): void;
  /** Says that runs of this or another process have ended. */
  announce(runIds: readonly string[]): void;
  /** Ends all waits, those to come included: the process stops, the runs go on. */
  endWaits(): void;
  /** Asks every waiter's `isEnded` again: the connection that carries notifications was cut. */
  recheck(): void;
}

/** What waiting for the end of a run came to. */
type WaitOutcome = RunChange | "ended" | "timeout" | "left";

interface Waiter {
  end: (outcome: WaitOutcome) => void;
  isEnded: () => Promise<boolean>;
}

/** Announcements are kept for so long, since one may overtake the answer that the run was stored. */
const ANNOUNCED_MS = 10_000;
const ANNOUNCED_MAX = 1_000;

/** Makes the waiting room of one process. */
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
      // The database is away: the next notification or recheck will tell, or else the timeout.
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
