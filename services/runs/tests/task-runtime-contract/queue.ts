import { expect, it } from "@jest/globals";
import { newId } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import type { RuntimePlatform } from "../../src/task-runtime/port.ts";
import { LONG_LEASE_MS, SHORT_LEASE_MS, tasksOf } from "../support/runtime-bench.ts";
import type { RuntimeBench } from "../support/runtime-bench.ts";
import { finish } from "../support/task-workers.ts";

/**
 * The promises of every adapter of the port `TaskRuntime` about the way of tasks to workers, their rest, and their
 * wake-ups.
 */
export function describeTaskQueue<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  describeClaims(bench);
  describeParking(bench);
  describeWakeUps(bench);
  describeAnnouncements(bench);
}

/** Each task is claimed once, in batches. */
function describeClaims<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatch, dispatchTold, open, startWorker, statusOf } = bench;

  it("never lets two of eight workers execute one of 500 tasks at the same time, and each once", async () => {
    const executions = new Map<string, number>();
    const atWork = new Set<string>();
    let overlaps = 0;
    const processes = await Promise.all(
      Array.from({ length: 8 }, () => open({ leaseMs: LONG_LEASE_MS })),
    );
    await Promise.all(
      processes.map((process) =>
        startWorker(process, async ({ lease, settle }) => {
          if (atWork.has(lease.runId)) overlaps += 1;
          atWork.add(lease.runId);
          executions.set(lease.runId, (executions.get(lease.runId) ?? 0) + 1);
          await new Promise((resolve) => setImmediate(resolve));
          atWork.delete(lease.runId);
          await settle({ lease, next: "done" });
        }),
      ),
    );
    const [first] = processes;
    if (first === undefined) throw new Error("no process");
    const runIds = await dispatch(500);
    const last = await dispatchTold(first.runtime, 1);
    runIds.push(...last.runIds);
    await waitFor(() => executions.size === 501, { timeoutMs: 60_000, what: "501 executions" });
    await waitFor(async () => (await statusOf(first, runIds.at(-1) ?? "")) === null);
    expect(overlaps).toBe(0);
    expect(new Set(executions.values())).toEqual(new Set([1]));
    expect(new Set(executions.keys())).toEqual(new Set(runIds));
  });

  it("claims tasks in batches and never more than a worker executes at a time", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    await dispatch(60);
    let most = 0;
    let atWork = 0;
    const worker = await startWorker(
      process,
      async ({ lease, settle }) => {
        atWork += 1;
        most = Math.max(most, atWork);
        await settle({ lease, next: "done" });
        atWork -= 1;
      },
      10,
    );
    await waitFor(() => worker.leases.length === 60, { what: "60 executions" });
    expect(worker.batchSizes[0]).toBe(10);
    expect(most).toBe(10);
  });
}

/** A parked task waits for its time or for a wake-up. */
function describeParking<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchOne, open, openTwo, startWorker, statusOf, transaction } = bench;

  it("executes a task that was parked for a time after that time and not before", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    const times: number[] = [];
    const worker = await startWorker(process, async ({ lease, settle }) => {
      // The time is read before the write: some of it may be over when the write is confirmed.
      times.push(performance.now());
      await settle(
        worker.leases.length === 1 ? { lease, next: "park", forMs: 300 } : { lease, next: "done" },
      );
    });
    const runId = await dispatchOne(process.runtime);
    await waitFor(() => worker.leases.length === 2, { what: "the second claim" });
    await waitFor(async () => (await statusOf(process, runId)) === null);
    const [parkedAt = 0, claimedAt = 0] = times;
    // The clocks of the store and of this process may differ by a few milliseconds.
    expect(claimedAt - parkedAt).toBeGreaterThan(250);
    expect(worker.leases[1]?.takeovers).toBe(0);
  });

  it("leaves a task that was parked for good alone until it is woken", async () => {
    const [process, waker] = await openTwo(SHORT_LEASE_MS);
    const worker = await startWorker(process, ({ lease, settle }) =>
      settle(
        worker.leases.length === 1 ? { lease, next: "park", forMs: null } : { lease, next: "done" },
      ),
    );
    const runId = await dispatchOne(process.runtime);
    await waitFor(async () => (await statusOf(process, runId)) === "parked");
    expect(worker.leases).toHaveLength(1);
    await transaction((transaction) => waker.runtime.wake(transaction, [runId]));
    await waitFor(async () => (await statusOf(process, runId)) === null);
    expect(worker.leases).toHaveLength(2);
  });
}

/** Wake-ups reach a task that is executed. */
function describeWakeUps<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchOne, open, openTwo, startWorker, statusOf, transaction } = bench;

  it("does not lose a wake-up that comes while the task is being executed", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    const woken = Promise.withResolvers<void>();
    const worker = await startWorker(process, async ({ lease, settle }) => {
      if (worker.leases.length > 1) {
        await settle({ lease, next: "done" });
        return;
      }
      await woken.promise;
      // Progress on the way must not lose the wake-up either.
      await settle({ lease, next: "keep" });
      await settle({ lease, next: "park", forMs: null });
    });
    const runId = await dispatchOne(process.runtime);
    await waitFor(() => worker.leases.length === 1);
    await transaction((transaction) => process.runtime.wake(transaction, [runId]));
    woken.resolve();
    await waitFor(async () => (await statusOf(process, runId)) === null);
    expect(worker.leases).toHaveLength(2);
  });

  it("tells the execution of a task that the task was woken", async () => {
    const [process, waker] = await openTwo(LONG_LEASE_MS);
    const worker = await startWorker(process, async ({ lease, settle }) => {
      await new Promise<void>((resolve) => {
        lease.onWoken = resolve;
      });
      await settle({ lease, next: "done" });
    });
    const runId = await dispatchOne(process.runtime);
    await waitFor(() => worker.leases[0]?.onWoken !== undefined);
    await transaction((transaction) => waker.runtime.wake(transaction, [runId]));
    await waitFor(async () => (await statusOf(process, runId)) === null);
  });
}

/** Tasks are found however they are announced. */
function describeAnnouncements<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatch, dispatchOne, open, openTwo, startWorker, statusOf, transaction } = bench;

  it("never executes what was dispatched by a transaction that was rolled back", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    const worker = await startWorker(process, finish);
    const lost = newId("run_");
    const begun = process.runtime.dispatch(tasksOf([lost]));
    const rollBack = transaction(async (transaction) => {
      await begun.write(transaction, [lost]);
      throw new Error("rolled back");
    });
    await expect(rollBack).rejects.toThrow("rolled back");
    begun.abandoned();
    const kept = await dispatchOne(process.runtime);
    await waitFor(async () => (await statusOf(process, kept)) === null);
    expect(worker.leases.map(({ runId }) => runId)).toEqual([kept]);
    expect(await statusOf(process, lost)).toBeNull();
  });

  it("finds tasks whose announcement was lost", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    const worker = await startWorker(process, finish);
    await dispatchOne(process.runtime);
    await waitFor(() => worker.leases.length === 1);
    await dispatch(3);
    await waitFor(() => worker.leases.length === 4, { what: "the unannounced tasks" });
  });

  it("hears of tasks that another process dispatches", async () => {
    const [process, api] = await openTwo(LONG_LEASE_MS);
    const worker = await startWorker(process, finish);
    const runId = await dispatchOne(api.runtime);
    await waitFor(() => worker.leases.some((lease) => lease.runId === runId));
  });

  it("says what a task does at the moment", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    expect(await statusOf(process, newId("run_"))).toBeNull();
    const go = Promise.withResolvers<void>();
    const [runId = ""] = await dispatch(1);
    expect(await statusOf(process, runId)).toBe("queued");
    const worker = await startWorker(process, async ({ lease, settle }) => {
      await go.promise;
      await settle({ lease, next: "park", forMs: null });
    });
    await waitFor(() => worker.leases.length === 1);
    expect(await statusOf(process, runId)).toBe("executing");
    go.resolve();
    await waitFor(async () => (await statusOf(process, runId)) === "parked");
  });
}
