import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { ClaimLoop } from "./claim-loop.ts";
import { claimTasks } from "./claim-tasks.ts";
import type { Claim, ClaimedTask } from "./claim-tasks.ts";
import { Heartbeat } from "./heartbeat.ts";
import { LeaseTable } from "./lease-table.ts";
import type { HeldLease } from "./lease-table.ts";
import type { Advance, Lease, NewTask, Settlement, WorkerOptions } from "./port.ts";
import {
  beginTasks,
  beginTasksCte,
  disownTasks,
  giveBackLeases,
  heldTasksCte,
  postponeLeases,
  RETRY_MS_MIN,
  settleTasks,
  settleTasksCte,
} from "./postgres-queries.ts";
import type { SettlementRow } from "./postgres-queries.ts";
import type { WorkerObserver } from "./worker-observer.ts";
import { WorkerStopped } from "./worker-stopped.ts";
import type { RuntimeWorker, Settling } from "./runtime.ts";

/** The options of a worker. */
export interface PostgresWorkerOptions extends WorkerOptions {
  database: Database;
  logger: Logger;
  /** The pool whose tasks the worker claims. */
  pool: string;
  leaseMs: number;
  pollMs: number;
  /** Notified of what the worker does. */
  observer?: WorkerObserver | undefined;
}

/** Slots of a worker that wait for tasks which are being stored. */
export interface Reservation {
  workerId: string;
  runIds: ReadonlySet<string>;
  /** Begins to execute the tasks that were stored under this worker's lease. */
  begin(stored: ReadonlySet<string>): void;
  cancel(): void;
}

/** The pause of a task for which the worker had no memory. */
const UNBEGUN_MS = 500;

type Fenced = Pick<Lease, "runId" | "fence">;

/** How long a stopping worker lets executions go on. */
const STOP_GRACE_MS = 3_000;
/** The position where the visit of companies begins. */
const FIRST_COMPANY = "00000000-0000-0000-0000-000000000000";
/** The fence of a task that was stored under a lease. */
export const FIRST_FENCE = 1;
/**
 * Turns of the event loop for which a run that is handed over waits. In one process with the gateway the
 * answer takes so many turns to the caller, who would otherwise wait for the run's first steps as well.
 */
const ANSWER_TURNS = 4;

/** Claims due tasks, keeps their leases alive and hands them to `execute`. */
export class PostgresWorker implements RuntimeWorker {
  readonly #options: PostgresWorkerOptions;
  readonly #id = randomUUID();
  readonly #leases: LeaseTable;
  readonly #loop: ClaimLoop;
  readonly #heartbeat: Heartbeat;
  /**
   * The company after which the visit goes on; null while few tasks are due, which is not known at first.
   */
  #companiesAfter: string | null = FIRST_COMPANY;
  #isStopping = false;
  /** Leases that the stop has ended. Their tasks are given back together. */
  readonly #stopped: Fenced[] = [];
  /** Writes for executions that are over. */
  readonly #concluding = new Set<Promise<void>>();
  readonly #stopShowing: (() => void) | undefined;

  constructor(options: PostgresWorkerOptions) {
    const { database, leaseMs, pollMs, logger } = options;
    this.#options = options;
    this.#leases = new LeaseTable(options.concurrency);
    this.#heartbeat = new Heartbeat({ database, leases: this.#leases, leaseMs, logger });
    this.#loop = new ClaimLoop({
      free: () => this.#leases.free,
      freeForGuests: () => this.#leases.freeForGuests,
      isMostlyFree: () => this.#leases.isMostlyFree,
      claim: (limit, forGuests) => this.#claim(limit, forGuests),
      onBehind: () => this.#wantSlots(),
      begin: (tasks) => this.#begin(tasks),
      onFailure: () => this.#disown(),
      pollMs,
      logger,
    });
    this.#stopShowing = options.observer?.watchSlots(() => this.#leases.use);
  }

  /** Announces that tasks may be due. */
  announce(): void {
    this.#loop.announce();
  }

  /** Reserves slots for tasks that are about to be stored; null when there is none. */
  reserve(tasks: readonly NewTask[]): Reservation | null {
    const spare = this.#loop.spare;
    if (this.#isStopping || spare === 0) return null;
    const runIds = this.#leases.reserve(tasks, spare);
    const reserved = tasks.filter(({ runId }) => runIds.has(runId));
    return {
      workerId: this.#id,
      runIds,
      begin: (stored) => {
        this.#leases.cancelReservation(reserved);
        const begun = reserved.filter(({ runId }) => stored.has(runId));
        // The task was stored while the worker stopped: nothing has begun.
        if (this.#isStopping) return this.#track(this.#giveBack(begun.map(toFirstLease)));
        this.#options.observer?.handedOver(begun.length);
        if (begun.length > 0) this.#begin(begun.map(toFirstLease), ANSWER_TURNS);
        if (begun.length < reserved.length) this.#loop.slotFreed();
      },
      cancel: () => {
        this.#leases.cancelReservation(reserved);
        this.#loop.slotFreed();
        // The tasks may have been stored though the answer was lost. Then nothing has begun.
        void this.#giveBack(reserved.map(toFirstLease));
      },
    };
  }

  /** Notifies the execution of a task that the task was woken. */
  woken(runId: string): void {
    const lease = this.#leases.find(runId);
    // The task was parked meanwhile, so it is due again.
    if (lease === undefined || lease.settledForGood) return this.#loop.announce();
    lease.wasWoken = true;
    lease.onWoken?.();
  }

  /** Stops the execution of a task that was cancelled. */
  abort(runId: string): void {
    this.#leases.find(runId)?.controller.abort();
  }

  /** @see RuntimeWorker.begin */
  async begin(leases: readonly Lease[]): Promise<ReadonlySet<string>> {
    const begun = new Set(await beginTasks(this.#options.database, leases));
    for (const { runId, fence } of leases) {
      const lease = this.#leases.find(runId);
      if (lease?.fence === fence && !begun.has(runId)) lease.controller.abort();
    }
    return begun;
  }

  /** @see RuntimeWorker.progressed */
  async progressed(leases: readonly Lease[]): Promise<void> {
    await this.#settleNow(leases.map((lease) => ({ lease, next: "keep" })));
  }

  /** @see Settling */
  get settling(): Settling {
    const { leaseMs } = this.#options;
    return {
      beginCte: beginTasksCte,
      settle: async (transaction, settlements) =>
        new Set(await settleTasks(transaction, settlements.map(toRow), leaseMs)),
      heldCte: (settlements) => heldTasksCte(settlements.map(toRow)),
      settleCte: () => settleTasksCte(leaseMs),
      settled: (settlements) => this.#settled(settlements),
    };
  }

  #settled(settlements: readonly Settlement[]): void {
    for (const settlement of settlements) {
      if (settlement.next === "keep") continue;
      const lease = this.#leases.find(settlement.lease.runId);
      if (lease?.fence === settlement.lease.fence) lease.settledForGood = true;
      if (settlement.next !== "park") continue;
      if (lease?.wasWoken === true) this.#loop.announce();
      else if (settlement.forMs !== null) this.#loop.announceIn(settlement.forMs);
    }
  }

  /** Settles in a transaction of its own. */
  async #settleNow(settlements: readonly Settlement[]): Promise<void> {
    const { database, leaseMs } = this.#options;
    const held = new Set(await settleTasks(database, settlements.map(toRow), leaseMs));
    this.#settled(settlements.filter(({ lease }) => held.has(lease.runId)));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    // Runs that only wait need not be waited for.
    this.#wantSlots();
    await this.#loop.stop();
    const ended = this.#leases.idle();
    // Most executions end within this time. Another worker repeats the calls of those that do not.
    await Promise.race([ended, sleep(STOP_GRACE_MS, undefined, { ref: false })]);
    for (const lease of this.#leases.held) lease.controller.abort(new WorkerStopped());
    await ended;
    this.#stopShowing?.();
    await this.#heartbeat.stop();
    await this.#giveBack(this.#stopped);
    await Promise.all(this.#concluding);
  }

  #wantSlots(): void {
    for (const lease of this.#leases.held) lease.onSlotWanted?.();
  }

  async #claim(limit: number, forGuests: boolean): Promise<Claim> {
    if (this.#heartbeat.isLate) await this.#heartbeat.send();
    const claim = await claimTasks(this.#options.database, {
      workerId: this.#id,
      pool: this.#options.pool,
      leaseMs: this.#options.leaseMs,
      limit,
      taken: this.#leases.takenBy,
      suspect: !this.#leases.hasSuspect && !forGuests,
      forGuests,
      companiesAfter: this.#companiesAfter,
    });
    if (claim.tasks.length > 0) {
      const takenOver = claim.tasks.filter(({ takeovers }) => takeovers > 0).length;
      this.#options.observer?.claimed(claim.tasks.length, takenOver);
    }
    this.#companiesAfter = claim.crowded ? (claim.lastCompanyId ?? FIRST_COMPANY) : null;
    return claim;
  }

  #begin(tasks: readonly ClaimedTask[], turns = 1): void {
    const isSlotWanted = (): boolean => this.#isStopping || this.#loop.isBehind;
    const leases = tasks.map((task) => this.#leases.hold(task, isSlotWanted));
    const byRun = new Map<Lease, HeldLease>(leases.map((lease) => [lease, lease]));
    afterTurns(turns, () => {
      if (this.#isStopping) {
        for (const lease of leases) lease.controller.abort(new WorkerStopped());
      }
      this.#options.execute(leases, (lease, advance) => {
        const held = byRun.get(lease);
        if (held !== undefined) this.#finish(held, advance);
      });
    });
  }

  #finish(lease: HeldLease, advance: Advance): void {
    const isLeft = this.#leases.finish(lease);
    if (isLeft && !lease.signal.aborted) this.#track(this.#conclude(lease, advance));
    else if (isLeft && this.#isStopping) this.#stopped.push(lease);
    this.#loop.slotFreed();
  }

  /** The stop of the worker waits for it, since the database is closed afterwards. */
  #track(concluding: Promise<void>): void {
    this.#concluding.add(concluding);
    void concluding.finally(() => this.#concluding.delete(concluding));
  }

  /** Writes now what was not written with the run. */
  async #conclude(lease: HeldLease, advance: Advance): Promise<void> {
    if (advance.next === "release") return this.#postpone([lease]);
    if (advance.next === "unbegun") return this.#giveBack([lease], UNBEGUN_MS);
    try {
      await this.#settleNow([{ lease, ...advance }]);
      this.#loop.announce();
    } catch (error) {
      this.#warnOfKept(error);
    }
  }

  /**
   * Gives leases back whose executions came to nothing. The tasks are tried again after a pause that
   * grows.
   */
  async #postpone(leases: readonly HeldLease[]): Promise<void> {
    try {
      await postponeLeases(this.#options.database, leases);
      this.#loop.announceIn(RETRY_MS_MIN);
    } catch (error) {
      this.#warnOfKept(error);
    }
  }

  async #giveBack(leases: readonly Fenced[], pauseMs = 0): Promise<void> {
    if (leases.length === 0) return;
    try {
      await giveBackLeases(this.#options.database, leases, pauseMs);
      if (pauseMs > 0) this.#loop.announceIn(pauseMs);
    } catch (error) {
      this.#warnOfKept(error);
    }
  }

  /** The tasks of a claim whose answer was lost have not begun, so that must not count as a take-over. */
  async #disown(): Promise<void> {
    if (this.#isStopping) return;
    try {
      await disownTasks(this.#options.database, this.#id, this.#leases.runIds);
    } catch (error) {
      this.#warnOfKept(error);
    }
  }

  #warnOfKept(error: unknown): void {
    const { logger } = this.#options;
    logger.warn({ err: error }, "could not release leases; they expire by themselves");
  }
}

/** Calls back after so many turns of the event loop. */
function afterTurns(turns: number, callback: () => void): void {
  setImmediate(() => (turns > 1 ? afterTurns(turns - 1, callback) : callback()));
}

function toFirstLease({ runId, companyId }: NewTask): ClaimedTask {
  return { runId, companyId, fence: FIRST_FENCE, takeovers: 0, idleMs: 0 };
}

function toRow(settlement: Settlement): SettlementRow {
  return {
    runId: settlement.lease.runId,
    fence: settlement.lease.fence,
    next: settlement.next,
    forMs: settlement.next === "park" ? settlement.forMs : null,
  };
}
