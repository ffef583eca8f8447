import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { JournalEntry } from "../journal/journal-entry.ts";
import { notify } from "../store/notify.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { ReadyRun } from "./begin-runs.ts";
import { ENDED_CHANNEL, endedPayloads } from "./ended-runs.ts";
import type { EndedRuns } from "./ended-runs.ts";

/** What announces the ends of runs. */
export interface EndAnnouncerOptions {
  /** The database that notifies other processes. */
  database: Database;
  endedRuns: EndedRuns;
  logger: Logger;
}

/** Announces the ends of this worker's runs to the callers that wait for them. */
export interface EndAnnouncer {
  /**
   * Says that a run is about to be executed. A caller who waits for its end does so in this process
   * (`here`), or perhaps in another one (`anywhere`).
   */
  expect(ready: Pick<ReadyRun, "lease" | "run">, waiters: "here" | "anywhere"): void;
  /** Announces those of the committed entries that end a run somebody waits for. Never throws. */
  announce(entries: readonly JournalEntry[]): void;
}

/** Makes an announcer for one worker. */
export function createEndAnnouncer(options: EndAnnouncerOptions): EndAnnouncer {
  const { database, endedRuns, logger } = options;
  const awaited = new WeakMap<Lease, "here" | "anywhere">();
  return {
    expect({ lease, run }, waiters) {
      if (run.row.hasSyncWaiter) awaited.set(lease, waiters);
    },
    announce(entries) {
      const ended = entries.filter(({ next, lease }) => next === "done" && awaited.has(lease));
      for (const { lease, run } of ended) endedRuns.announceEnd(lease.runId, run);
      const told = ended.filter(({ lease }) => awaited.get(lease) === "anywhere");
      for (const payload of endedPayloads(told.map(({ lease }) => lease.runId))) {
        notify(database, ENDED_CHANNEL, payload).catch((error: unknown) => {
          logger.warn({ err: error }, "could not announce ended runs");
        });
      }
    },
  };
}
