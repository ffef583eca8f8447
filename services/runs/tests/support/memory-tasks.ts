import type { Lease } from "../../src/task-runtime/port.ts";

/** A task of the memory runtime. */
export interface Task {
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

/** A worker that takes tasks when the store has some that are due. */
export interface TaskTaker {
  take(due: readonly Task[]): void;
}

/** The lease of a task, with the worker that holds it. */
export interface HeldLease extends Lease {
  readonly worker: TaskTaker;
  readonly controller: AbortController;
}

/** A task that is due at once. */
export function newTask(runId: string, companyId: string): Task {
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

/** The tasks of a test; workers do not claim tasks, the store hands them out. */
export class Store {
  readonly tasks = new Map<string, Task>();
  readonly workers = new Set<TaskTaker>();
  #pumping = false;
  #timer: NodeJS.Timeout | undefined;

  dueAt(now: number): Task[] {
    return [...this.tasks.values()]
      .filter((task) => task.lease === null && task.dueAt <= now)
      .toSorted((left, right) => left.dueAt - right.dueAt);
  }

  /** Hands out the tasks that are due, in the next turn of the event loop. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      // The clock is read once: a task that falls due between two readings would be in neither list.
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

  /** Ends the lease of a process that is gone. */
  expire(lease: HeldLease): void {
    const task = this.find(lease);
    if (task === undefined) return;
    if (task.begun) task.takeovers += 1;
    this.giveBack(task, 0);
  }

  /** Ends the lease of a task, which is due again after this time. */
  giveBack(task: Task, afterMs: number): void {
    task.lease = null;
    task.dueAt = performance.now() + afterMs;
    this.pump();
  }

  /** The task of a lease, unless the lease has ended. */
  find(lease: Lease): Task | undefined {
    const task = this.tasks.get(lease.runId);
    return task?.lease === lease ? task : undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.tasks.clear();
  }
}
