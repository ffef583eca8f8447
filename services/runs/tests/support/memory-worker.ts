import type {
  Advance,
  Lease,
  NewTask,
  RuntimeWorker,
  WorkerOptions,
} from "../../src/task-runtime/port.ts";
import type { HeldLease, Store, Task } from "./memory-tasks.ts";

/** Commands that the runtime obeys in their order once the transaction is committed. */
export interface MemoryTransaction {
  readonly staged: (() => void)[];
}

/** A store apart from that of the runs: only commands go through a transaction. */
export interface Platform {
  transaction: MemoryTransaction;
  statementPart: never;
}

const SUSPECT_TAKEOVERS = 2;
const UNBEGUN_MS = 500;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 60_000;

/** A process's worker of the memory runtime. */
export class Worker implements RuntimeWorker<Platform> {
  readonly #store: Store;
  readonly #options: WorkerOptions;
  readonly #executing = new Set<HeldLease>();
  readonly #reserved = new Map<string, string>();
  readonly leaseMs: number;
  #isStopping = false;
  #isCutOff = false;

  constructor(store: Store, options: WorkerOptions, leaseMs: number) {
    this.#store = store;
    this.#options = options;
    this.leaseMs = leaseMs;
  }

  get #free(): number {
    if (this.#isStopping || this.#isCutOff) return 0;
    return this.#options.concurrency - this.#executing.size - this.#reserved.size;
  }

  /** Takes due tasks into free slots, by turns of the companies. */
  take(due: readonly Task[]): void {
    const chosen: Task[] = [];
    let hasSuspect = [...this.#executing].some(isSuspect);
    const waiting = Map.groupBy(
      due.filter((task) => task.lease === null),
      ({ companyId }) => companyId,
    );
    const slots = this.#slotsTaken();
    while (chosen.length < this.#free) {
      const [queue] = [...waiting.values()]
        .filter((tasks) => tasks.length > 0)
        .toSorted((left, right) => turnOf(left, slots) - turnOf(right, slots));
      const task = queue?.shift();
      if (task === undefined) break;
      if (isSuspect(task)) {
        if (hasSuspect) continue;
        hasSuspect = true;
      }
      slots.set(task.companyId, (slots.get(task.companyId) ?? 0) + 1);
      chosen.push(task);
    }
    if (chosen.length > 0) this.#execute(chosen.map((task) => this.lease(task)));
  }

  /** Leases a task to this worker. */
  lease(task: Task): HeldLease {
    const controller = new AbortController();
    const lease: HeldLease = {
      runId: task.runId,
      fence: task.fence + 1,
      takeovers: task.takeovers,
      idleMs: Math.max(0, performance.now() - task.dueAt),
      signal: controller.signal,
      isSlotWanted: () => this.#free <= 0 && this.#store.dueAt(performance.now()).length > 0,
      controller,
      worker: this,
    };
    Object.assign(task, { lease, fence: lease.fence, woken: false, begun: false });
    return lease;
  }

  /** Reserves free slots for new tasks; returns the runs that have one. */
  reserve(tasks: readonly NewTask[]): ReadonlySet<string> {
    const spare = this.#store.dueAt(performance.now()).length > 0 ? 0 : this.#free;
    const chosen = tasks.slice(0, Math.max(0, spare));
    for (const { runId, companyId } of chosen) this.#reserved.set(runId, companyId);
    return new Set(chosen.map(({ runId }) => runId));
  }

  /** Ends a reservation and executes those of its tasks that were stored. */
  handOver(runIds: ReadonlySet<string>, stored: ReadonlySet<string>): void {
    for (const runId of runIds) this.#reserved.delete(runId);
    const leases = [...runIds].flatMap((runId) => {
      const lease = stored.has(runId) ? this.#store.tasks.get(runId)?.lease : null;
      return lease?.worker === this ? [lease] : [];
    });
    if (leases.length > 0) this.#execute(leases);
    this.#store.pump();
  }

  async begin(leases: readonly Lease[]): Promise<ReadonlySet<string>> {
    this.#assertConnected();
    const begun = leases.flatMap((lease) => this.#store.find(lease) ?? []);
    for (const task of begun) task.begun = true;
    return new Set(begun.map(({ runId }) => runId));
  }

  async progressed(leases: readonly Lease[]): Promise<void> {
    this.#assertConnected();
    for (const lease of leases) {
      const task = this.#store.find(lease);
      if (task !== undefined) Object.assign(task, { takeovers: 0, attempts: 0 });
    }
  }

  /** Cuts the worker off from the store: its leases run out, and its calls fail. */
  cutOff(): void {
    this.#isCutOff = true;
    for (const { lease } of this.#store.tasks.values()) {
      if (lease?.worker === this) setTimeout(() => this.#store.expire(lease), this.leaseMs);
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#store.workers.delete(this);
    const leases = [...this.#executing];
    for (const lease of leases) lease.controller.abort();
    while (this.#executing.size > 0) await new Promise((resolve) => setImmediate(resolve));
    if (this.#isCutOff) return;
    for (const lease of leases) {
      const task = this.#store.find(lease);
      if (task !== undefined) this.#store.giveBack(task, 0);
    }
  }

  #execute(leases: readonly HeldLease[]): void {
    for (const lease of leases) this.#executing.add(lease);
    this.#options.execute(leases, (lease, advance) => {
      for (const held of leases) if (held === lease) this.#executing.delete(held);
      if (!this.#isCutOff) this.#conclude(lease, advance);
      this.#store.pump();
    });
  }

  #conclude(lease: Lease, advance: Advance): void {
    const task = this.#store.find(lease);
    if (task === undefined || lease.signal.aborted) return;
    if (advance.next === "done") {
      this.#store.tasks.delete(task.runId);
    } else if (advance.next === "park") {
      Object.assign(task, { takeovers: 0, attempts: 0 });
      this.#store.giveBack(task, task.woken ? 0 : (advance.forMs ?? Infinity));
    } else if (advance.next === "unbegun") {
      this.#store.giveBack(task, UNBEGUN_MS);
    } else {
      const pauseMs = Math.min(RETRY_MS_MIN * 2 ** task.attempts, RETRY_MS_MAX);
      task.attempts += 1;
      this.#store.giveBack(task, pauseMs);
    }
  }

  #slotsTaken(): Map<string, number> {
    const taken = new Map<string, number>();
    const companies = [...this.#executing].map(
      ({ runId }) => this.#store.tasks.get(runId)?.companyId ?? "",
    );
    for (const company of [...companies, ...this.#reserved.values()]) {
      taken.set(company, (taken.get(company) ?? 0) + 1);
    }
    return taken;
  }

  #assertConnected(): void {
    if (this.#isCutOff) throw new Error("cut off");
  }
}

function isSuspect({ takeovers }: { takeovers: number }): boolean {
  return takeovers >= SUSPECT_TAKEOVERS;
}

/** The rank of a company's queue: fewest slots first, then the oldest task. */
function turnOf([task]: readonly Task[], slots: ReadonlyMap<string, number>): number {
  return task === undefined ? Infinity : (slots.get(task.companyId) ?? 0) * 1e9 + task.dueAt;
}
