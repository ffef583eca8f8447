import type { Database } from "@workflow/db";
import type { Lease, RuntimeWorker, Settlement, TaskRuntime } from "../../src/task-runtime/port.ts";

/** One process's view of a runtime. */
export interface RuntimeProcess {
  runtime: TaskRuntime;
  /** Cuts the process off from the runtime's store without stopping it, as a hung machine would be. */
  cutOff(): Promise<void>;
}

/** A runtime under test: any number of processes on one store. */
export interface RuntimeFixture {
  /** For the transactions that belong to the caller. */
  database: Database;
  open(options: { leaseMs: number }): Promise<RuntimeProcess>;
  close(): Promise<void>;
}

/** What a test does with a task. */
export type Work = (task: {
  lease: Lease;
  settle: (settlement: Settlement) => Promise<boolean>;
}) => Promise<unknown>;

/** A worker that remembers what it was given. */
export interface TestWorker {
  runtimeWorker: RuntimeWorker;
  /** Every lease that it was given, in order. */
  leases: Lease[];
  batchSizes: number[];
  /** Settles in a transaction of its own; whether the lease still held. */
  settle(settlement: Settlement): Promise<boolean>;
}

/** Starts a worker that does this work with every task. */
export async function startTestWorker(
  { runtime }: RuntimeProcess,
  database: Database,
  concurrency: number,
  work: Work,
): Promise<TestWorker> {
  const leases: Lease[] = [];
  const batchSizes: number[] = [];
  const settle = async (settlement: Settlement): Promise<boolean> => {
    const settled = await database.transaction((transaction) =>
      runtimeWorker.settle(transaction, [settlement]),
    );
    const held = settled.has(settlement.lease.runId);
    if (held) runtimeWorker.settled([settlement]);
    return held;
  };
  const runtimeWorker: RuntimeWorker = await runtime.startWorker({
    concurrency,
    execute(batch, finished) {
      batchSizes.push(batch.length);
      for (const lease of batch) {
        leases.push(lease);
        void work({ lease, settle }).finally(() => finished(lease));
      }
    },
  });
  return { runtimeWorker, leases, batchSizes, settle };
}

/** Work that is done at once. */
export const finish: Work = ({ lease, settle }) => settle({ lease, next: "done" });

/** Work that goes on until it is stopped. */
export function untilAborted({ lease }: { lease: Lease }): Promise<void> {
  return new Promise((resolve) => {
    if (lease.signal.aborted) resolve();
    lease.signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Two processes with leases of this length. */
export async function openTwo(
  fixture: RuntimeFixture,
  leaseMs: number,
): Promise<[RuntimeProcess, RuntimeProcess]> {
  return [await fixture.open({ leaseMs }), await fixture.open({ leaseMs })];
}
