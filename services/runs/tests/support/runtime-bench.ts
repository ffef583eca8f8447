import { afterAll, afterEach, beforeAll } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import type {
  NewTask,
  RuntimePlatform,
  RuntimeWorker,
  TaskRuntimePort,
  TaskStatus,
} from "../../src/task-runtime/port.ts";
import { startTestWorker } from "./task-workers.ts";
import type { RuntimeFixture, RuntimeProcess, TestWorker, Work } from "./task-workers.ts";

export const SHORT_LEASE_MS = 500;
export const LONG_LEASE_MS = 60_000;

/** The tools of the tests of a runtime, whose leftovers go away after each test. */
export interface RuntimeBench<P extends RuntimePlatform> {
  /** A process on the runtime's store. */
  open: (options: { leaseMs: number }) => Promise<RuntimeProcess<P>>;
  /** Two processes with leases of this length. */
  openTwo: (leaseMs: number) => Promise<[RuntimeProcess<P>, RuntimeProcess<P>]>;
  transaction: <T>(work: (transaction: P["transaction"]) => Promise<T>) => Promise<T>;
  /** Stores tasks without a message to any worker, as a process does that dies after the commit. */
  dispatch: (count: number) => Promise<string[]>;
  /** Stores tasks of one company and announces them; returns which of them went to a worker. */
  dispatchTold: (
    runtime: TaskRuntimePort<P>,
    count: number,
    companyId?: string,
  ) => Promise<{ runIds: string[]; handedOver: ReadonlySet<string> }>;
  dispatchOne: (runtime: TaskRuntimePort<P>) => Promise<string>;
  /** Stores a task for a worker of the process; waits until a worker takes one. */
  dispatchHandedOver: (runtime: TaskRuntimePort<P>) => Promise<string>;
  /** Lets a task that was stored otherwise be removed after the test. */
  remember: (runId: string) => void;
  /** Starts a worker, for 50 tasks at a time by default. */
  startWorker: (
    process: RuntimeProcess<P>,
    work: Work,
    concurrency?: number,
  ) => Promise<TestWorker<P>>;
  /** Lets a worker that was started otherwise be stopped after the test. */
  keep: (worker: RuntimeWorker<P>) => void;
  /** A signal that is aborted at the end of the test under way. */
  over: () => AbortSignal;
  statusOf: (process: RuntimeProcess<P>, runId: string) => Promise<TaskStatus | null>;
}

/** Tasks of one company. */
export function tasksOf(runIds: readonly string[], companyId: string = newUuid()): NewTask[] {
  return runIds.map((runId) => ({ runId, companyId }));
}

/** Opens a runtime for the cases of the describe block that calls it. */
export function useRuntime<P extends RuntimePlatform>(
  create: () => Promise<RuntimeFixture<P>>,
): RuntimeBench<P> {
  let fixture: RuntimeFixture<P>;
  let workers: RuntimeWorker<P>[] = [];
  const dispatched: string[] = [];
  let test = new AbortController();

  beforeAll(async () => {
    fixture = await create();
  });
  afterEach(async () => {
    test.abort();
    await Promise.all(workers.map((worker) => worker.stop()));
    const { runtime } = await fixture.open({ leaseMs: LONG_LEASE_MS });
    await fixture.transaction((transaction) => runtime.cancel(transaction, dispatched));
    workers = [];
    dispatched.length = 0;
    test = new AbortController();
  });
  afterAll(() => fixture.close());

  return {
    ...createDispatches(() => fixture, dispatched),
    open: (options) => fixture.open(options),
    async openTwo(leaseMs) {
      return [await fixture.open({ leaseMs }), await fixture.open({ leaseMs })];
    },
    transaction: (work) => fixture.transaction(work),
    async startWorker(process, work, concurrency = 50) {
      const options = { concurrency, over: test.signal };
      const worker = await startTestWorker(process, fixture, options, work);
      workers.push(worker.runtimeWorker);
      return worker;
    },
    keep: (worker) => void workers.push(worker),
    over: () => test.signal,
    statusOf: ({ runtime }, runId) => runtime.findStatus(runId),
  };
}

type Dispatches<P extends RuntimePlatform> = Pick<
  RuntimeBench<P>,
  "dispatch" | "dispatchTold" | "dispatchOne" | "dispatchHandedOver" | "remember"
>;

/** Ways to dispatch tasks, all of which `dispatched` gathers. */
function createDispatches<P extends RuntimePlatform>(
  fixtureOf: () => RuntimeFixture<P>,
  dispatched: string[],
): Dispatches<P> {
  const dispatches: Dispatches<P> = {
    async dispatch(count) {
      const runIds = Array.from({ length: count }, () => newId("run_"));
      dispatched.push(...runIds);
      const { runtime } = await fixtureOf().open({ leaseMs: LONG_LEASE_MS });
      await fixtureOf().transaction((transaction) =>
        runtime.dispatch(tasksOf(runIds)).write(transaction, runIds),
      );
      return runIds;
    },
    async dispatchTold(runtime, count, companyId) {
      const runIds = Array.from({ length: count }, () => newId("run_"));
      dispatched.push(...runIds);
      const begun = runtime.dispatch(tasksOf(runIds, companyId));
      await fixtureOf().transaction((transaction) => begun.write(transaction, runIds));
      begun.committed(new Set(runIds));
      return { runIds, handedOver: begun.handedOver };
    },
    async dispatchOne(runtime) {
      const { runIds } = await dispatches.dispatchTold(runtime, 1);
      return runIds[0] ?? "";
    },
    // A worker hands nothing over before its first claim has found nothing due.
    dispatchHandedOver: (runtime) =>
      waitFor(async () => {
        const runId = newId("run_");
        const begun = runtime.dispatch(tasksOf([runId]));
        if (!begun.handedOver.has(runId)) {
          begun.abandoned();
          return null;
        }
        dispatched.push(runId);
        await fixtureOf().transaction((transaction) => begun.write(transaction, [runId]));
        begun.committed(new Set([runId]));
        return runId;
      }),
    remember: (runId) => void dispatched.push(runId),
  };
  return dispatches;
}
