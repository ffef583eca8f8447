import { backoffMs } from "@workflow/async";
import type { BackoffLimits } from "@workflow/async";

/** Events that failed by themselves, each set back by its own growing delay (times in ms). */
export interface Deferrals {
  /** Defers an event again; returns how often it has failed. */
  defer(seq: number): number;
  forget(seq: number): void;
  /** The events that still have to wait. */
  waiting(): number[];
  /** Drops those whose time has come and that are no longer among the unpublished rows. */
  dropDueExcept(seqs: ReadonlySet<number>): void;
  /** Time until the next one is due, or null. */
  nextDueInMs(): number | null;
}

export function createDeferrals(pauses: BackoffLimits): Deferrals {
  const entries = new Map<number, { attempts: number; dueAt: number }>();
  return {
    defer(seq) {
      const attempts = (entries.get(seq)?.attempts ?? 0) + 1;
      entries.set(seq, { attempts, dueAt: Date.now() + backoffMs(attempts, pauses) });
      return attempts;
    },
    forget(seq) {
      entries.delete(seq);
    },
    waiting() {
      const now = Date.now();
      return [...entries].filter(([, entry]) => entry.dueAt > now).map(([seq]) => seq);
    },
    dropDueExcept(seqs) {
      const now = Date.now();
      for (const [seq, entry] of entries) {
        if (entry.dueAt <= now && !seqs.has(seq)) entries.delete(seq);
      }
    },
    nextDueInMs() {
      if (entries.size === 0) return null;
      const earliest = [...entries.values()].reduce(
        (least, { dueAt }) => Math.min(least, dueAt),
        Infinity,
      );
      return Math.max(0, earliest - Date.now());
    },
  };
}
