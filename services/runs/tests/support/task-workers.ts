import type {
  Advance,
  Lease,
  RuntimePlatform,
  RuntimeWorker,
  Settlement,
  TaskRuntimePort,
} from "../../src/task-runtime/port.ts";

/** One process's view of a runtime. */
export interface RuntimeProcess<P extends RuntimePlatform> {
  runtime: TaskRuntimePort<P>;
  /** Cuts the process off from the runtime's store without stopping it, as a hung machine would be. */
  cutOff(): Promise<void>;
}

/** A runtime under test: any number of processes on one store. */
export interface RuntimeFixture<P extends RuntimePlatform> {
  /** A transaction of the caller. */
  transaction<T>(work: (transaction: P["transaction"]) => Promise<T>): Promise<T>;
  open(options: { leaseMs: number }): Promise<RuntimeProcess<P>>;
  close(): Promise<void>;
}

/** What a test does with a task. */
export type Work = (task: {
  lease: Lease;
  settle: (settlement: Settlement) => Promise<boolean>;
  /** Aborted when the test is over: a worker that stops waits some seconds for work that goes on. */
  over: AbortSignal;
}) => Promise<unknown>;

/** A worker that remembers what it was given. */
export interface TestWorker<P extends RuntimePlatform> {
  runtimeWorker: RuntimeWorker<P>;
  /** Every lease that it was given, in order. */
  leases: Lease[];
  batchSizes: number[];
  /**
   * Says what becomes of a task: in a transaction of its own where the runtime settles with its callers,
   * else as the end of the execution. False when the lease is known to be lost.
   */
  settle(settlement: Settlement): Promise<boolean>;
}

/** How a worker is started. */
export interface TestWorkerOptions {
  concurrency: number;
  /** Aborted when the test is over. */
  over: AbortSignal;
}

/** Starts a worker that does this work with every task whose execution may begin. */
export async function startTestWorker<P extends RuntimePlatform>(
  { runtime }: RuntimeProcess<P>,
  fixture: RuntimeFixture<P>,
  { concurrency, over }: TestWorkerOptions,
  work: Work,
): Promise<TestWorker<P>> {
  const leases: Lease[] = [];
  const batchSizes: number[] = [];
  const endings = new Map<Lease, (advance: Advance) => void>();

  const settle = async (settlement: Settlement): Promise<boolean> => {
    const { settling } = runtimeWorker;
    const { lease } = settlement;
    if (settling !== undefined) {
      const settled = await fixture.transaction((transaction) =>
        settling.settle(transaction, [settlement]),
      );
      const held = settled.has(lease.runId);
      if (held) settling.settled([settlement]);
      return held;
    }
    if (!(await begin([lease])).has(lease.runId)) return false;
    if (settlement.next === "keep") await runtimeWorker.progressed([lease]);
    else endings.get(lease)?.(settlement);
    return true;
  };
  /** Which leases hold; a process that is cut off learns nothing any more. */
  const begin = async (batch: readonly Lease[]): Promise<ReadonlySet<string>> => {
    try {
      return await runtimeWorker.begin(batch);
    } catch {
      return new Set();
    }
  };
  const execute = async (lease: Lease, begun: Promise<ReadonlySet<string>>): Promise<void> => {
    if ((await begun).has(lease.runId)) await work({ lease, settle, over });
  };
  const runtimeWorker: RuntimeWorker<P> = await runtime.startWorker({
    concurrency,
    execute(batch, finished) {
      batchSizes.push(batch.length);
      const begun = begin(batch);
      for (const lease of batch) {
        leases.push(lease);
        endings.set(lease, (advance) => {
          endings.delete(lease);
          finished(lease, advance);
        });
        void execute(lease, begun).finally(() => endings.get(lease)?.({ next: "release" }));
      }
    },
  });
  return { runtimeWorker, leases, batchSizes, settle };
}

/** Work that is done at once. */
export const finish: Work = ({ lease, settle }) => settle({ lease, next: "done" });

/** Work that goes on until it is stopped, or until the test is over. */
export function untilAborted({ lease, over }: { lease: Lease; over: AbortSignal }): Promise<void> {
  const ended = AbortSignal.any([lease.signal, over]);
  return new Promise((resolve) => {
    if (ended.aborted) resolve();
    ended.addEventListener("abort", () => resolve(), { once: true });
  });
}
