import { SUSPECT_TAKEOVERS } from "./claim-tasks.ts";
import type { ClaimedTask } from "./claim-tasks.ts";
import type { Lease, NewTask } from "./port.ts";
import type { SlotUse } from "./worker-observer.ts";

/** A lease of this worker. */
export interface HeldLease extends Lease {
  readonly companyId: string | null;
  readonly controller: AbortController;
  /** Whether its task is done or parked, so that nothing is left to be kept or given back. */
  settledForGood: boolean;
  /** Whether the task was woken under this lease. A woken task is due as soon as it is parked. */
  wasWoken: boolean;
}

/** Extra places beside the slots, as a share of them. */
const GUEST_SHARE = 1 / 10;

/**
 * The slots of one worker, and the leases that it holds. A slot is free, reserved for a task that is
 * being stored, or taken by an execution. When all are taken there are some extra places for companies
 * that have none: executions of others may last for minutes (D57).
 */
export class LeaseTable {
  readonly #slots: number;
  readonly #guests: number;
  readonly #held = new Map<string, HeldLease>();
  readonly #reserved = new Set<string>();
  readonly #takenBy = new Map<string, number>();
  #executing = 0;
  #suspects = 0;
  #onIdle: (() => void) | null = null;

  constructor(slots: number) {
    this.#slots = slots;
    this.#guests = Math.max(1, Math.floor(slots * GUEST_SHARE));
  }

  /** 0 or less while all are taken. */
  get free(): number {
    return this.#slots - this.#executing - this.#reserved.size;
  }

  /** Extra places for companies that have none, while no slot is free. */
  get freeForGuests(): number {
    return Math.max(0, this.#guests + Math.min(0, this.free));
  }

  /** Whether most slots are free. Then the next claim need not wait for more of them. */
  get isMostlyFree(): boolean {
    return this.free > this.#slots / 2;
  }

  /** How the slots are used. */
  get use(): SlotUse {
    return {
      slots: this.#slots,
      taken: this.#slots - this.free,
      companies: this.#takenBy.size,
      largest: Math.max(0, ...this.#takenBy.values()),
    };
  }

  /** Whether a task is being executed that may have killed workers. */
  get hasSuspect(): boolean {
    return this.#suspects > 0;
  }

  /** The slots that companies have taken or reserved. */
  get takenBy(): ReadonlyMap<string, number> {
    return this.#takenBy;
  }

  /** Run ids of the tasks whose leases this worker holds, or will hold with a commit. */
  get runIds(): string[] {
    return [...this.#held.keys(), ...this.#reserved];
  }

  /** The leases of the executions under way. */
  get held(): HeldLease[] {
    return [...this.#held.values()];
  }

  /** Leases that still have to be kept or given back. */
  get unsettled(): HeldLease[] {
    return this.held.filter((lease) => !lease.settledForGood);
  }

  /** Reserves slots for tasks that are about to be stored, as far as there are any, in turns (D57). */
  reserve(tasks: readonly NewTask[], slotsMax: number): ReadonlySet<string> {
    const chosen = tasks.length <= slotsMax ? tasks : this.#byTurns(tasks).slice(0, slotsMax);
    for (const { runId, companyId } of chosen) {
      this.#reserved.add(runId);
      this.#count(companyId, 1);
    }
    return new Set(chosen.map(({ runId }) => runId));
  }

  /** Gives reserved slots back. */
  cancelReservation(tasks: readonly NewTask[]): void {
    for (const { runId, companyId } of tasks) {
      if (this.#reserved.delete(runId)) this.#count(companyId, -1);
    }
  }

  /** Takes a slot for a task that this worker has leased. */
  hold(task: ClaimedTask, isSlotWanted: () => boolean): HeldLease {
    // If the same task comes again, this worker was silent for longer than a lease.
    this.#held.get(task.runId)?.controller.abort();
    const controller = new AbortController();
    const lease: HeldLease = {
      ...task,
      signal: controller.signal,
      isSlotWanted,
      controller,
      settledForGood: false,
      wasWoken: false,
    };
    this.#held.set(task.runId, lease);
    this.#executing += 1;
    if (isSuspect(lease)) this.#suspects += 1;
    this.#count(lease.companyId, 1);
    return lease;
  }

  /** Frees the slot of an execution that is over; returns whether its task is neither done nor parked. */
  finish(lease: HeldLease): boolean {
    this.#executing -= 1;
    if (isSuspect(lease)) this.#suspects -= 1;
    this.#count(lease.companyId, -1);
    if (this.#executing === 0) this.#onIdle?.();
    if (this.#held.get(lease.runId) !== lease) return false;
    this.#held.delete(lease.runId);
    return !lease.settledForGood;
  }

  /** The lease under which a task is executed here. */
  find(runId: string): HeldLease | undefined {
    return this.#held.get(runId);
  }

  /** Resolves when nothing is being executed any more. */
  idle(): Promise<void> {
    if (this.#executing === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onIdle = resolve));
  }

  #byTurns(tasks: readonly NewTask[]): NewTask[] {
    const slots = new Map(this.#takenBy);
    const ranked = tasks.map((task) => {
      const turn = (slots.get(task.companyId) ?? 0) + 1;
      slots.set(task.companyId, turn);
      return { task, turn };
    });
    return ranked.toSorted((left, right) => left.turn - right.turn).map(({ task }) => task);
  }

  #count(companyId: string | null, change: 1 | -1): void {
    if (companyId === null) return;
    const slots = (this.#takenBy.get(companyId) ?? 0) + change;
    if (slots === 0) this.#takenBy.delete(companyId);
    else this.#takenBy.set(companyId, slots);
  }
}

function isSuspect({ takeovers }: Lease): boolean {
  return takeovers >= SUSPECT_TAKEOVERS;
}
