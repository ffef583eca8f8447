import type {
  Advance,
  Dispatch,
  Lease,
  NewTask,
  RuntimeWorker,
  TaskRuntimePort,
  TaskStatus,
  WorkerOptions,
} from "../../src/task-runtime/port.ts";
import type { RuntimeFixture, RuntimeProcess } from "./task-workers.ts";

/** Commands that are obeyed in their order once the transaction is committed. */
export interface MemoryTransaction {
  readonly staged: (() => void)[];
}

/** A store apart from the one of the runs: nothing but the commands goes through a transaction. */
interface Platform {
  transaction: MemoryTransaction;
  statementPart: never;
}

interface Task {
  readonly runId: string;
  readonly companyId: string;
  dueAt: number;
  fence: number;
  takeovers: number;
  attempts: number;
  begun: boolean;
  woken: boolean;
  lease: HeldLease | null;
}

interface HeldLease extends Lease {
  readonly worker: Worker;
  readonly controller: AbortController;
}

const SUSPECT_TAKEOVERS = 2;
const UNBEGUN_MS = 500;
const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 60_000;

/** The tasks of a test, and who executes them: it hands them out, nobody claims. */
class Store {
  readonly tasks = new Map<string, Task>();
  readonly workers = new Set<Worker>();
  #pumping = false;
  #timer: NodeJS.Timeout | undefined;

  dueAt(now: number): Task[] {
    return [...this.tasks.values()]
      .filter((task) => task.lease === null && task.dueAt <= now)
      .toSorted((left, right) => left.dueAt - right.dueAt);
  }

  /** Hands out what is due, soon. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      // One look at the clock: a task that falls due between two looks would be in neither answer.
      const now = performance.now();
      for (const worker of this.workers) worker.take(this.dueAt(now));
      const later = [...this.tasks.values()]
        .filter(({ lease, dueAt }) => lease === null && dueAt > now)
        .map(({ dueAt }) => dueAt);
      const next = Math.min(...later);
      clearTimeout(this.#timer);
      if (next < Infinity) this.#timer = setTimeout(() => this.pump(), next - now);
    });
  }

  /** The lease of a process that is gone has run out. */
  expire(lease: HeldLease): void {
    const task = this.find(lease);
    if (task === undefined) return;
    if (task.begun) task.takeovers += 1;
    this.giveBack(task, 0);
  }

  giveBack(task: Task, afterMs: number): void {
    task.lease = null;
    task.dueAt = performance.now() + afterMs;
    this.pump();
  }

  /** The task of a lease that holds. */
  find(lease: Lease): Task | undefined {
    const task = this.tasks.get(lease.runId);
    return task?.lease === lease ? task : undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.tasks.clear();
  }
}

class Worker implements RuntimeWorker<Platform> {
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

  /** Takes due tasks into its free slots, by turns of the companies. */
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

  reserve(tasks: readonly NewTask[]): ReadonlySet<string> {
    const spare = this.#store.dueAt(performance.now()).length > 0 ? 0 : this.#free;
    const chosen = tasks.slice(0, Math.max(0, spare));
    for (const { runId, companyId } of chosen) this.#reserved.set(runId, companyId);
    return new Set(chosen.map(({ runId }) => runId));
  }

  /** Ends a reservation; executes what was stored of it. */
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

  /** Its leases run out; nothing that it says is heard any more. */
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

/** Fewest slots first, then the oldest. */
function turnOf([task]: readonly Task[], slots: ReadonlyMap<string, number>): number {
  return task === undefined ? Infinity : (slots.get(task.companyId) ?? 0) * 1e9 + task.dueAt;
}

class MemoryRuntime implements TaskRuntimePort<Platform> {
  readonly name = "memory";
  readonly #store: Store;
  readonly #leaseMs: number;
  readonly #workers: Worker[] = [];

  constructor(store: Store, leaseMs: number) {
    this.#store = store;
    this.#leaseMs = leaseMs;
  }

  runtimeRunId(runId: string): string {
    return runId;
  }

  dispatch(tasks: readonly NewTask[]): Dispatch<Platform> {
    const worker = this.#workers.at(0);
    const handedOver = worker?.reserve(tasks) ?? new Set<string>();
    const companies = new Map(tasks.map(({ runId, companyId }) => [runId, companyId]));
    return {
      handedOver,
      epochOf: (runId) => (handedOver.has(runId) ? 1 : 0),
      write: (transaction, runIds) => {
        transaction.staged.push(() => {
          for (const runId of runIds) {
            const task = newTask(runId, companies.get(runId) ?? "");
            this.#store.tasks.set(runId, task);
            if (handedOver.has(runId)) worker?.lease(task);
          }
          this.#store.pump();
        });
        return Promise.resolve();
      },
      committed: (stored) => worker?.handOver(handedOver, stored),
      abandoned: () => worker?.handOver(handedOver, new Set()),
    };
  }

  cancel(transaction: MemoryTransaction, runIds: readonly string[]): Promise<void> {
    transaction.staged.push(() => {
      for (const runId of runIds) {
        this.#store.tasks.get(runId)?.lease?.controller.abort();
        this.#store.tasks.delete(runId);
      }
    });
    return Promise.resolve();
  }

  wake(transaction: MemoryTransaction, runIds: readonly string[]): Promise<void> {
    transaction.staged.push(() => {
      for (const task of runIds.flatMap((runId) => this.#store.tasks.get(runId) ?? [])) {
        task.woken = task.lease !== null;
        if (task.lease === null) task.dueAt = Math.min(task.dueAt, performance.now());
        task.lease?.onWoken?.();
      }
      this.#store.pump();
    });
    return Promise.resolve();
  }

  findStatus(runId: string): Promise<TaskStatus | null> {
    const task = this.#store.tasks.get(runId);
    if (task === undefined) return Promise.resolve(null);
    if (task.lease !== null) return Promise.resolve("executing");
    return Promise.resolve(task.dueAt <= performance.now() ? "queued" : "parked");
  }

  startWorker(options: WorkerOptions): Promise<RuntimeWorker<Platform>> {
    const worker = new Worker(this.#store, options, this.#leaseMs);
    this.#workers.push(worker);
    this.#store.workers.add(worker);
    this.#store.pump();
    return Promise.resolve(worker);
  }

  cutOff(): void {
    for (const worker of this.#workers) worker.cutOff();
  }
}

function newTask(runId: string, companyId: string): Task {
  return {
    runId,
    companyId,
    dueAt: performance.now(),
    fence: 0,
    takeovers: 0,
    attempts: 0,
    begun: false,
    woken: false,
    lease: null,
  };
}

/** A runtime that keeps its tasks in memory, apart from everything else. */
export function createMemoryFixture(): RuntimeFixture<Platform> {
  const store = new Store();
  return {
    async transaction(work) {
      const transaction: MemoryTransaction = { staged: [] };
      const result = await work(transaction);
      for (const obey of transaction.staged) obey();
      return result;
    },
    open({ leaseMs }): Promise<RuntimeProcess<Platform>> {
      const runtime = new MemoryRuntime(store, leaseMs);
      const cutOff = (): Promise<void> => {
        runtime.cutOff();
        return Promise.resolve();
      };
      return Promise.resolve({ runtime, cutOff });
    },
    close() {
      store.close();
      return Promise.resolve();
    },
  };
}
