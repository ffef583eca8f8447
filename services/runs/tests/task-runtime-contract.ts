import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { newId } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import type { RuntimeWorker, TaskRuntime } from "../src/task-runtime/port.ts";
import { finish, openTwo, startTestWorker, untilAborted } from "./support/task-workers.ts";
import type { RuntimeFixture, RuntimeProcess, TestWorker, Work } from "./support/task-workers.ts";

const SHORT_LEASE_MS = 500;
const LONG_LEASE_MS = 60_000;

/** What every adapter of the port `TaskRuntime` promises. */
export function describeTaskRuntime(name: string, create: () => Promise<RuntimeFixture>): void {
  let fixture: RuntimeFixture;
  let workers: RuntimeWorker[] = [];
  let dispatched: string[] = [];

  beforeAll(async () => {
    fixture = await create();
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    const { runtime } = await fixture.open({ leaseMs: LONG_LEASE_MS });
    await fixture.database.transaction((transaction) => runtime.cancel(transaction, dispatched));
    workers = [];
    dispatched = [];
  });
  afterAll(() => fixture.close());

  const dispatch = async (runtime: TaskRuntime, count: number): Promise<string[]> => {
    const runIds = Array.from({ length: count }, () => newId("run_"));
    dispatched.push(...runIds);
    await fixture.database.transaction((transaction) => runtime.dispatch(transaction, runIds));
    return runIds;
  };

  const dispatchOne = async (runtime: TaskRuntime): Promise<string> => {
    const [runId = ""] = await dispatch(runtime, 1);
    runtime.dispatched(1);
    return runId;
  };

  const startWorker = async (
    process: RuntimeProcess,
    work: Work,
    concurrency = 50,
  ): Promise<TestWorker> => {
    const worker = await startTestWorker(process, fixture.database, concurrency, work);
    workers.push(worker.runtimeWorker);
    return worker;
  };

  const statusOf = (process: RuntimeProcess, runId: string) => process.runtime.findStatus(runId);

  describe(name, () => {
    it("never lets two of eight workers execute one of 500 tasks at the same time, and each once", async () => {
      const executions = new Map<string, number>();
      const atWork = new Set<string>();
      let overlaps = 0;
      const processes = await Promise.all(
        Array.from({ length: 8 }, () => fixture.open({ leaseMs: LONG_LEASE_MS })),
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
      const runIds = await dispatch(first.runtime, 500);
      first.runtime.dispatched(1);
      await waitFor(() => executions.size === 500, { timeoutMs: 20_000, what: "500 executions" });
      await waitFor(async () => (await statusOf(first, runIds.at(-1) ?? "")) === null);
      expect(overlaps).toBe(0);
      expect(new Set(executions.values())).toEqual(new Set([1]));
      expect(new Set(executions.keys())).toEqual(new Set(runIds));
    });

    it("claims tasks in batches and never more than a worker executes at a time", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      await dispatch(process.runtime, 60);
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

    it("gives the task of a worker that fell silent to another one, after a lease", async () => {
      const [silent, other] = await openTwo(fixture, SHORT_LEASE_MS);
      const first = await startWorker(silent, untilAborted);
      const runId = await dispatchOne(silent.runtime);
      await waitFor(() => first.leases.length === 1, { what: "the first claim" });
      await silent.cutOff();
      const second = await startWorker(other, untilAborted);
      await waitFor(() => second.leases.length === 1, { what: "the take-over" });
      expect(second.leases[0]).toMatchObject({ runId, takeovers: 1 });
      expect(second.leases[0]?.fence).toBeGreaterThan(first.leases[0]?.fence ?? Infinity);
    });

    it("refuses what a worker settles after its lease went to another one", async () => {
      const [silent, other] = await openTwo(fixture, SHORT_LEASE_MS);
      const first = await startWorker(silent, untilAborted);
      const runId = await dispatchOne(silent.runtime);
      const stale = await waitFor(() => first.leases[0] ?? null);
      await silent.cutOff();
      const second = await startWorker(other, untilAborted);
      const fresh = await waitFor(() => second.leases[0] ?? null);
      for (const next of ["keep", "done"] as const) {
        expect(await first.settle({ lease: stale, next })).toBe(false);
      }
      expect(await first.settle({ lease: stale, next: "park", wakeAt: null })).toBe(false);
      expect(await statusOf(other, runId)).toBe("executing");
      expect(await second.settle({ lease: fresh, next: "done" })).toBe(true);
    });

    it("tells a worker that comes back to life that its lease is lost", async () => {
      const [stalled, other] = await openTwo(fixture, SHORT_LEASE_MS);
      const first = await startWorker(stalled, untilAborted);
      const runId = await dispatchOne(stalled.runtime);
      const lease = await waitFor(() => first.leases[0] ?? null);
      // Another process ends the run, without a word to this one.
      const { runtime } = other;
      await fixture.database.transaction((transaction) => runtime.cancel(transaction, [runId]));
      await waitFor(() => lease.signal.aborted, { what: "the signal to be aborted" });
    });

    it("keeps a task that takes many leases' time with its worker", async () => {
      const [process, other] = await openTwo(fixture, SHORT_LEASE_MS);
      const later = new Date(Date.now() + 4 * SHORT_LEASE_MS);
      const roles = new Map<string, "long" | "clock">();
      let rang = false;
      const work: Work = async ({ lease, settle }) => {
        if (roles.get(lease.runId) === "long") return untilAborted({ lease });
        if (Date.now() < later.getTime()) {
          await settle({ lease, next: "park", wakeAt: later });
          return;
        }
        rang = true;
        await settle({ lease, next: "done" });
      };
      const [longId = "", clockId = ""] = await dispatch(process.runtime, 2);
      roles.set(longId, "long").set(clockId, "clock");
      const both = [await startWorker(process, work), await startWorker(other, work)];
      await waitFor(() => rang, { what: "four leases' time" });
      const leases = both.flatMap((worker) =>
        worker.leases.filter(({ runId }) => runId === longId),
      );
      expect(leases).toHaveLength(1);
      expect(leases[0]?.signal.aborted).toBe(false);
    });

    it("executes a task that was parked until a time at that time and not before", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const wakeAt = new Date(Date.now() + 300);
      const worker = await startWorker(process, async ({ lease, settle }) => {
        await settle(
          worker.leases.length === 1 ? { lease, next: "park", wakeAt } : { lease, next: "done" },
        );
        claimedAt = Date.now();
      });
      let claimedAt = 0;
      const runId = await dispatchOne(process.runtime);
      await waitFor(() => worker.leases.length === 2, { what: "the second claim" });
      await waitFor(async () => (await statusOf(process, runId)) === null);
      expect(claimedAt).toBeGreaterThanOrEqual(wakeAt.getTime());
      expect(worker.leases[1]?.takeovers).toBe(0);
    });

    it("leaves a task that was parked for good alone until it is woken", async () => {
      const [process, waker] = await openTwo(fixture, SHORT_LEASE_MS);
      const worker = await startWorker(process, ({ lease, settle }) =>
        settle(
          worker.leases.length === 1
            ? { lease, next: "park", wakeAt: null }
            : { lease, next: "done" },
        ),
      );
      const runId = await dispatchOne(process.runtime);
      await waitFor(async () => (await statusOf(process, runId)) === "parked");
      expect(worker.leases).toHaveLength(1);
      await fixture.database.transaction((transaction) => waker.runtime.wake(transaction, [runId]));
      await waitFor(async () => (await statusOf(process, runId)) === null);
      expect(worker.leases).toHaveLength(2);
    });

    it("does not lose a wake-up that comes while the task is being executed", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const woken = Promise.withResolvers<void>();
      const worker = await startWorker(process, async ({ lease, settle }) => {
        if (worker.leases.length > 1) {
          await settle({ lease, next: "done" });
          return;
        }
        await woken.promise;
        // Progress on the way must not forget it either.
        await settle({ lease, next: "keep" });
        await settle({ lease, next: "park", wakeAt: null });
      });
      const runId = await dispatchOne(process.runtime);
      await waitFor(() => worker.leases.length === 1);
      await fixture.database.transaction((transaction) =>
        process.runtime.wake(transaction, [runId]),
      );
      woken.resolve();
      await waitFor(async () => (await statusOf(process, runId)) === null);
      expect(worker.leases).toHaveLength(2);
    });

    it("tells the execution of a task that the task was woken", async () => {
      const [process, waker] = await openTwo(fixture, LONG_LEASE_MS);
      const worker = await startWorker(process, async ({ lease, settle }) => {
        await new Promise<void>((resolve) => {
          lease.onWoken = resolve;
        });
        await settle({ lease, next: "done" });
      });
      const runId = await dispatchOne(process.runtime);
      await waitFor(() => worker.leases[0]?.onWoken !== undefined);
      await fixture.database.transaction((transaction) => waker.runtime.wake(transaction, [runId]));
      await waitFor(async () => (await statusOf(process, runId)) === null);
    });

    it("stops the execution of a task that is cancelled and refuses what it settles", async () => {
      const [process, other] = await openTwo(fixture, LONG_LEASE_MS);
      const worker = await startWorker(process, untilAborted);
      const runId = await dispatchOne(process.runtime);
      const lease = await waitFor(() => worker.leases[0] ?? null);
      await fixture.database.transaction((transaction) =>
        other.runtime.cancel(transaction, [runId]),
      );
      await waitFor(() => lease.signal.aborted, { what: "the signal to be aborted" });
      expect(await worker.settle({ lease, next: "done" })).toBe(false);
      expect(await statusOf(process, runId)).toBeNull();
    });

    it("never executes what was dispatched by a transaction that was rolled back", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const worker = await startWorker(process, finish);
      const lost = newId("run_");
      const rollBack = fixture.database.transaction(async (transaction) => {
        await process.runtime.dispatch(transaction, [lost]);
        throw new Error("rolled back");
      });
      await expect(rollBack).rejects.toThrow("rolled back");
      const kept = await dispatchOne(process.runtime);
      await waitFor(async () => (await statusOf(process, kept)) === null);
      expect(worker.leases.map(({ runId }) => runId)).toEqual([kept]);
      expect(await statusOf(process, lost)).toBeNull();
    });

    it("counts the leases that ran out since the task last made progress (D30)", async () => {
      const seen: number[] = [];
      const first = await fixture.open({ leaseMs: SHORT_LEASE_MS });
      const runId = await dispatchOne(first.runtime);
      const takeOver = async (process: RuntimeProcess, progress: boolean): Promise<void> => {
        const worker = await startWorker(process, untilAborted);
        const lease = await waitFor(() => worker.leases[0] ?? null);
        expect(lease.runId).toBe(runId);
        seen.push(lease.takeovers);
        if (progress) expect(await worker.settle({ lease, next: "keep" })).toBe(true);
        await process.cutOff();
      };
      await takeOver(first, false);
      for (const progress of [false, true, false]) {
        await takeOver(await fixture.open({ leaseMs: SHORT_LEASE_MS }), progress);
      }
      expect(seen).toEqual([0, 1, 2, 1]);
    });

    it("gives the tasks of a worker that stops to another one at once", async () => {
      const [process, other] = await openTwo(fixture, LONG_LEASE_MS);
      const first = await startWorker(process, untilAborted);
      const runId = await dispatchOne(process.runtime);
      const lease = await waitFor(() => first.leases[0] ?? null);
      const second = await startWorker(other, untilAborted);
      await first.runtimeWorker.stop();
      expect(lease.signal.aborted).toBe(true);
      await waitFor(() => second.leases.length === 1, { what: "the other worker's claim" });
      expect(second.leases[0]).toMatchObject({ runId, takeovers: 0 });
    });

    it("finds tasks whose announcement was lost", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const worker = await startWorker(process, finish);
      await dispatchOne(process.runtime);
      await waitFor(() => worker.leases.length === 1);
      await dispatch(process.runtime, 3);
      await waitFor(() => worker.leases.length === 4, { what: "the unannounced tasks" });
    });

    it("hears of tasks that another process dispatches", async () => {
      const [process, api] = await openTwo(fixture, LONG_LEASE_MS);
      const worker = await startWorker(process, finish);
      const runId = await dispatchOne(api.runtime);
      await waitFor(() => worker.leases.some((lease) => lease.runId === runId));
    });

    it("executes a task again whose execution ended without a settlement", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const worker = await startWorker(process, async ({ lease, settle }) => {
        if (worker.leases.length > 1) await settle({ lease, next: "done" });
      });
      const runId = await dispatchOne(process.runtime);
      await waitFor(async () => (await statusOf(process, runId)) === null);
      expect(worker.leases.map(({ takeovers }) => takeovers)).toEqual([0, 0]);
    });

    it("says what a task does at the moment", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      expect(await statusOf(process, newId("run_"))).toBeNull();
      const go = Promise.withResolvers<void>();
      const [runId = ""] = await dispatch(process.runtime, 1);
      expect(await statusOf(process, runId)).toBe("queued");
      const worker = await startWorker(process, async ({ lease, settle }) => {
        await go.promise;
        await settle({ lease, next: "park", wakeAt: null });
      });
      await waitFor(() => worker.leases.length === 1);
      expect(await statusOf(process, runId)).toBe("executing");
      go.resolve();
      await waitFor(async () => (await statusOf(process, runId)) === "parked");
    });
  });
}
