import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { takeWakeUps } from "../store/wake-ups.ts";
import type { TaskRuntime } from "../task-runtime/runtime.ts";

/** Most runs that one transaction wakes; each locks a task. */
const BATCH_MAX = 50;

/** Delivers the wake-ups that transactions have noted. */
export interface WakeUps {
  /** Notifies that wake-ups were committed. */
  deliverSoon(): void;
  /** Delivers all noted wake-ups, those of other processes included. */
  deliver(): Promise<void>;
}

/** @see WakeUps */
export function createWakeUps(options: {
  database: Database;
  runtime: TaskRuntime;
  logger: Logger;
}): WakeUps {
  const { database, runtime, logger } = options;
  let delivering: Promise<void> | null = null;
  let again = false;

  const deliverAll = async (): Promise<void> => {
    let count: number;
    do {
      again = false;
      count = await database.transaction(async (transaction) => {
        const runIds = await takeWakeUps(transaction, BATCH_MAX);
        if (runIds.length > 0) await runtime.wake(transaction, runIds);
        return runIds.length;
      });
    } while (count > 0 || again);
  };

  const deliver = (): Promise<void> => {
    again = true;
    delivering ??= deliverAll().finally(() => (delivering = null));
    return delivering;
  };

  return {
    deliver,
    deliverSoon() {
      deliver().catch((error: unknown) => {
        // The wake-ups stay noted; the next delivery takes them.
        logger.warn({ err: error }, "could not wake runs");
      });
    },
  };
}
