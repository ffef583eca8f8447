import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database, SqlFragment, Transaction } from "@workflow/db";
import type { Logger } from "pino";
import {
  claimTasks,
  extendLeases,
  releaseLeases,
  settleTasks,
  settleTasksCte,
} from "./postgres-queries.ts";
import type { ClaimedTask, SettlementRow } from "./postgres-queries.ts";
import type { Lease, Settlement, WorkerOptions } from "./port.ts";

interface PostgresWorkerOptions extends WorkerOptions {
  database: Database;
  logger: Logger;
  leaseMs: number;
  pollMs: number;
}

interface HeldLease extends Lease {
  readonly controller: AbortController;
  settledForGood: boolean;
}

/** Most tasks that one claim takes; more would delay the first of them behind the others. */
const CLAIM_MAX = 64;
/**
 * In a rush, that is when so many runs are accepted by one statement, execution in the same process
 * gives way to accepting: it goes on at `RUSH_CLAIM_MAX` runs each `RUSH_PAUSE_MS`, no slower.
 */
const RUSH_STARTS = 8;
const RUSH_CLAIM_MAX = 20;
const RUSH_PAUSE_MS = 25;
/** How long a stopping worker lets executions go on. */
const STOP_GRACE_MS = 3_000;
/** The pause after a claim, or an execution, that came to nothing. */
const RETRY_AFTER_ERROR_MS = 500;

/** Claims due tasks, keeps their leases alive and hands them to `execute`. */
export function createPostgresWorker(options: PostgresWorkerOptions) {
  const { database, logger, leaseMs, pollMs, concurrency } = options;
  const workerId = randomUUID();
  const held = new Map<string, HeldLease>();
  let running = 0;
  let beating: Promise<void> | null = null;
  let beatenAt = performance.now();
  const stopping = new AbortController();
  let looking: Promise<void> | null = null;
  let lookAgain = false;
  let lookAt = Number.POSITIVE_INFINITY;
  let lookTimer: NodeJS.Timeout | undefined;
  let idle: (() => void) | undefined;
  let rushUntil = 0;

  const inRush = (): boolean => performance.now() < rushUntil;

  const lookIn = (delayMs: number): void => {
    const at = Date.now() + delayMs;
    if (stopping.signal.aborted || at >= lookAt) return;
    clearTimeout(lookTimer);
    lookAt = at;
    lookTimer = setTimeout(
      () => {
        // Also when a look is under way and takes this one over: later ones must be planned again.
        lookAt = Number.POSITIVE_INFINITY;
        look();
      },
      Math.max(0, delayMs),
    );
  };

  function look(): void {
    if (stopping.signal.aborted) return;
    lookAgain = true;
    looking ??= lookUntilDone().finally(() => {
      looking = null;
      if (lookAgain) look();
    });
  }

  async function lookUntilDone(): Promise<void> {
    clearTimeout(lookTimer);
    lookAt = Number.POSITIVE_INFINITY;
    try {
      while (lookAgain && !stopping.signal.aborted && running < concurrency) {
        lookAgain = false;
        // After a stall or an outage its own tasks look abandoned to this worker as well.
        if (performance.now() - beatenAt > (leaseMs * 2) / 3) await beat();
        const limit = Math.min(concurrency - running, inRush() ? RUSH_CLAIM_MAX : CLAIM_MAX);
        const { tasks, nextDueInMs } = await claimTasks(database, { workerId, leaseMs, limit });
        if (tasks.length > 0) begin(tasks.map((task) => hold(task)));
        if (inRush()) lookIn(RUSH_PAUSE_MS);
        else if (tasks.length === limit) lookAgain = true;
        else lookIn(Math.min(nextDueInMs ?? pollMs, pollMs));
      }
      // A full worker looks again when a task ends.
      if (running >= concurrency) lookAgain = false;
      lookIn(pollMs);
    } catch (error) {
      lookAgain = false;
      logger.warn({ err: error }, "could not claim tasks");
      lookIn(RETRY_AFTER_ERROR_MS);
    }
  }

  function hold(task: ClaimedTask): HeldLease {
    // The same task again means that this worker was silent for longer than a lease.
    held.get(task.runId)?.controller.abort();
    const controller = new AbortController();
    const lease: HeldLease = {
      ...task,
      signal: controller.signal,
      controller,
      settledForGood: false,
    };
    held.set(task.runId, lease);
    return lease;
  }

  function begin(leases: readonly HeldLease[]): void {
    running += leases.length;
    options.execute(leases, (lease) => {
      running -= 1;
      const mine = held.get(lease.runId);
      if (mine?.fence === lease.fence) {
        held.delete(lease.runId);
        if (!mine.settledForGood && !mine.signal.aborted) {
          void release([mine], RETRY_AFTER_ERROR_MS);
        }
      }
      if (inRush()) lookIn(RUSH_PAUSE_MS);
      else if (running < concurrency) lookIn(running < concurrency / 2 ? 0 : 1);
      if (running === 0) idle?.();
    });
  }

  async function release(leases: readonly HeldLease[], pauseMs: number): Promise<void> {
    if (leases.length === 0) return;
    try {
      await releaseLeases(database, leases, pauseMs);
    } catch (error) {
      logger.warn({ err: error }, "could not give leases back; they run out by themselves");
    }
  }

  function beat(): Promise<void> {
    beating ??= extendHeld().finally(() => (beating = null));
    return beating;
  }

  async function extendHeld(): Promise<void> {
    const begunAt = performance.now();
    const leases = [...held.values()].filter((lease) => !lease.settledForGood);
    const alive = new Set(leases.length === 0 ? [] : await extendLeases(database, leases, leaseMs));
    beatenAt = begunAt;
    for (const lease of leases) {
      if (!alive.has(lease.runId) && !lease.settledForGood) lease.controller.abort();
    }
  }

  const heartbeat = setInterval(() => {
    beat().catch((error: unknown) => logger.warn({ err: error }, "could not extend leases"));
  }, leaseMs / 3);

  return {
    look,
    /** Tells of tasks that this process has stored. */
    announce(count: number): void {
      if (count >= RUSH_STARTS) rushUntil = performance.now() + 2 * RUSH_PAUSE_MS;
      if (inRush()) lookIn(RUSH_PAUSE_MS);
      else look();
    },
    /** Tells the execution of a task that the task was woken. */
    woken(runId: string): void {
      held.get(runId)?.onWoken?.();
    },
    abort(runId: string): void {
      held.get(runId)?.controller.abort();
    },
    async settle(
      transaction: Transaction,
      settlements: readonly Settlement[],
    ): Promise<Set<string>> {
      return new Set(await settleTasks(transaction, settlements.map(toRow), leaseMs));
    },
    settleCte(settlements: readonly Settlement[]): SqlFragment {
      return settleTasksCte(settlements.map(toRow), leaseMs);
    },
    settled(settlements: readonly Settlement[]): void {
      for (const settlement of settlements) {
        if (settlement.next === "keep") continue;
        const lease = held.get(settlement.lease.runId);
        if (lease?.fence === settlement.lease.fence) lease.settledForGood = true;
        if (settlement.next === "park" && settlement.wakeAt !== null) {
          lookIn(Math.min(settlement.wakeAt.getTime() - Date.now(), pollMs));
        }
      }
    },
    async stop(): Promise<void> {
      stopping.abort();
      clearTimeout(lookTimer);
      await looking;
      const ended =
        running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (idle = resolve));
      // Most executions end within this time; calls that do not are made again by another worker.
      await Promise.race([ended, sleep(STOP_GRACE_MS, undefined, { ref: false })]);
      const leases = [...held.values()];
      for (const lease of leases) lease.controller.abort();
      await ended;
      clearInterval(heartbeat);
      await beating?.catch(() => {});
      await release(
        leases.filter((lease) => !lease.settledForGood),
        0,
      );
    },
  };
}

function toRow(settlement: Settlement): SettlementRow {
  return {
    runId: settlement.lease.runId,
    fence: settlement.lease.fence,
    next: settlement.next,
    wakeAt: settlement.next === "park" ? settlement.wakeAt : null,
  };
}
