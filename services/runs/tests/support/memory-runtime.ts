import type {
  Dispatch,
  NewTask,
  RuntimeWorker,
  TaskRuntimePort,
  TaskStatus,
  WorkerOptions,
} from "../../src/task-runtime/port.ts";
import { newTask, Store } from "./memory-tasks.ts";
import { Worker } from "./memory-worker.ts";
import type { MemoryTransaction, Platform } from "./memory-worker.ts";
import type { RuntimeFixture, RuntimeProcess } from "./task-workers.ts";

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

  /** Cuts the process off from the store. */
  cutOff(): void {
    for (const worker of this.#workers) worker.cutOff();
  }
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
