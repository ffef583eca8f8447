import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import type {
  Lease,
  NewTask,
  RuntimePlatform,
  RuntimeWorker,
  TaskRuntimePort,
} from "../src/task-runtime/port.ts";
import { finish, openTwo, startTestWorker, untilAborted } from "./support/task-workers.ts";
import type { RuntimeFixture, RuntimeProcess, TestWorker, Work } from "./support/task-workers.ts";

const SHORT_LEASE_MS = 500;
const LONG_LEASE_MS = 60_000;

/** Tasks of one company. */
function tasksOf(runIds: readonly string[], companyId: string = newUuid()): NewTask[] {
  return runIds.map((runId) => ({ runId, companyId }));
}

/** What every adapter of the port `TaskRuntime` promises. */
export function describeTaskRuntime<P extends RuntimePlatform>(
  name: string,
  create: () => Promise<RuntimeFixture<P>>,
): void {
  type Runtime = TaskRuntimePort<P>;
  type Process = RuntimeProcess<P>;
  let fixture: RuntimeFixture<P>;
  let workers: RuntimeWorker<P>[] = [];
  let dispatched: string[] = [];

  beforeAll(async () => {
    fixture = await create();
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    const { runtime } = await fixture.open({ leaseMs: LONG_LEASE_MS });
    await fixture.transaction((transaction) => runtime.cancel(transaction, dispatched));
    workers = [];
    dispatched = [];
  });
  afterAll(() => fixture.close());

  /** Stores tasks without a word to any worker, as a process does that dies after the commit. */
  const dispatch = async (count: number): Promise<string[]> => {
    const runIds = Array.from({ length: count }, () => newId("run_"));
    dispatched.push(...runIds);
    const { runtime } = await fixture.open({ leaseMs: LONG_LEASE_MS });
    await fixture.transaction((transaction) =>
      runtime.dispatch(tasksOf(runIds)).write(transaction, runIds),
    );
    return runIds;
  };

  const dispatchTold = async (
    runtime: Runtime,
    count: number,
    companyId?: string,
  ): Promise<{ runIds: string[]; handedOver: ReadonlySet<string> }> => {
    const runIds = Array.from({ length: count }, () => newId("run_"));
    dispatched.push(...runIds);
    const begun = runtime.dispatch(tasksOf(runIds, companyId));
    await fixture.transaction((transaction) => begun.write(transaction, runIds));
    begun.committed(new Set(runIds));
    return { runIds, handedOver: begun.handedOver };
  };

  const dispatchOne = async (runtime: Runtime): Promise<string> => {
    const { runIds } = await dispatchTold(runtime, 1);
    return runIds[0] ?? "";
  };

  /** A worker hands nothing over before its first claim has found nothing due. */
  const dispatchHandedOver = (runtime: Runtime): Promise<string> =>
    waitFor(async () => {
      const runId = newId("run_");
      const begun = runtime.dispatch(tasksOf([runId]));
      if (!begun.handedOver.has(runId)) {
        begun.abandoned();
        return null;
      }
      dispatched.push(runId);
      await fixture.transaction((transaction) => begun.write(transaction, [runId]));
      begun.committed(new Set([runId]));
      return runId;
    });

  const startWorker = async (
    process: Process,
    work: Work,
    concurrency = 50,
  ): Promise<TestWorker<P>> => {
    const worker = await startTestWorker(process, fixture, concurrency, work);
    workers.push(worker.runtimeWorker);
    return worker;
  };

  const statusOf = (process: Process, runId: string) => process.runtime.findStatus(runId);

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
      const runIds = await dispatch(500);
      const last = await dispatchTold(first.runtime, 1);
      runIds.push(...last.runIds);
      await waitFor(() => executions.size === 501, { timeoutMs: 20_000, what: "501 executions" });
      await waitFor(async () => (await statusOf(first, runIds.at(-1) ?? "")) === null);
      expect(overlaps).toBe(0);
      expect(new Set(executions.values())).toEqual(new Set([1]));
      expect(new Set(executions.keys())).toEqual(new Set(runIds));
    });

    it("claims tasks in batches and never more than a worker executes at a time", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
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
      expect(await first.settle({ lease: stale, next: "park", forMs: null })).toBe(false);
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
      await fixture.transaction((transaction) => runtime.cancel(transaction, [runId]));
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
          await settle({ lease, next: "park", forMs: later.getTime() - Date.now() });
          return;
        }
        rang = true;
        await settle({ lease, next: "done" });
      };
      const [longId = "", clockId = ""] = await dispatch(2);
      roles.set(longId, "long").set(clockId, "clock");
      const both = [await startWorker(process, work), await startWorker(other, work)];
      await waitFor(() => rang, { what: "four leases' time" });
      const leases = both.flatMap((worker) =>
        worker.leases.filter(({ runId }) => runId === longId),
      );
      expect(leases).toHaveLength(1);
      expect(leases[0]?.signal.aborted).toBe(false);
    });

    it("executes a task that was parked for a time after that time and not before", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const worker = await startWorker(process, async ({ lease, settle }) => {
        await settle(
          worker.leases.length === 1
            ? { lease, next: "park", forMs: 300 }
            : { lease, next: "done" },
        );
        times.push(performance.now());
      });
      const times: number[] = [];
      const runId = await dispatchOne(process.runtime);
      await waitFor(() => worker.leases.length === 2, { what: "the second claim" });
      await waitFor(async () => (await statusOf(process, runId)) === null);
      const [parkedAt = 0, claimedAt = 0] = times;
      // The store's clock and ours may tick apart by a few milliseconds.
      expect(claimedAt - parkedAt).toBeGreaterThan(250);
      expect(worker.leases[1]?.takeovers).toBe(0);
    });

    it("leaves a task that was parked for good alone until it is woken", async () => {
      const [process, waker] = await openTwo(fixture, SHORT_LEASE_MS);
      const worker = await startWorker(process, ({ lease, settle }) =>
        settle(
          worker.leases.length === 1
            ? { lease, next: "park", forMs: null }
            : { lease, next: "done" },
        ),
      );
      const runId = await dispatchOne(process.runtime);
      await waitFor(async () => (await statusOf(process, runId)) === "parked");
      expect(worker.leases).toHaveLength(1);
      await fixture.transaction((transaction) => waker.runtime.wake(transaction, [runId]));
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
        await settle({ lease, next: "park", forMs: null });
      });
      const runId = await dispatchOne(process.runtime);
      await waitFor(() => worker.leases.length === 1);
      await fixture.transaction((transaction) => process.runtime.wake(transaction, [runId]));
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
      await fixture.transaction((transaction) => waker.runtime.wake(transaction, [runId]));
      await waitFor(async () => (await statusOf(process, runId)) === null);
    });

    it("stops the execution of a task that is cancelled and refuses what it settles", async () => {
      const [process, other] = await openTwo(fixture, LONG_LEASE_MS);
      const worker = await startWorker(process, untilAborted);
      const runId = await dispatchOne(process.runtime);
      const lease = await waitFor(() => worker.leases[0] ?? null);
      await fixture.transaction((transaction) => other.runtime.cancel(transaction, [runId]));
      await waitFor(() => lease.signal.aborted, { what: "the signal to be aborted" });
      expect(await worker.settle({ lease, next: "done" })).toBe(false);
      expect(await statusOf(process, runId)).toBeNull();
    });

    it("never executes what was dispatched by a transaction that was rolled back", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const worker = await startWorker(process, finish);
      const lost = newId("run_");
      const begun = process.runtime.dispatch(tasksOf([lost]));
      const rollBack = fixture.transaction(async (transaction) => {
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

    it("counts the leases that ran out since the task last made progress (D30)", async () => {
      const seen: number[] = [];
      const first = await fixture.open({ leaseMs: SHORT_LEASE_MS });
      const runId = await dispatchOne(first.runtime);
      const takeOver = async (process: Process, progress: boolean): Promise<void> => {
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

    it("counts no death between the claim and the beginning of the execution (D30)", async () => {
      const [dying, other] = await openTwo(fixture, SHORT_LEASE_MS);
      const claimed: Lease[] = [];
      const never = await dying.runtime.startWorker({
        concurrency: 1,
        execute(leases, finished) {
          claimed.push(...leases);
          for (const lease of leases) {
            void untilAborted({ lease }).then(() => finished(lease, { next: "release" }));
          }
        },
      });
      workers.push(never);
      const runIds = await dispatch(1);
      await waitFor(() => claimed.length === 1, { what: "the first claim" });
      await dying.cutOff();
      const second = await startWorker(other, untilAborted);
      await waitFor(() => second.leases.length === 1, { what: "the take-over" });
      expect(second.leases[0]).toMatchObject({ runId: runIds[0], takeovers: 0 });
      expect(await never.begin(claimed).catch(() => new Set())).toEqual(new Set());
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
      await dispatch(3);
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

    it("hands a task to a free worker of the process that stores it, which executes it once", async () => {
      const [process, other] = await openTwo(fixture, LONG_LEASE_MS);
      const elsewhere = await startWorker(other, untilAborted);
      const worker = await startWorker(process, untilAborted);
      const runId = await dispatchHandedOver(process.runtime);
      await waitFor(() => worker.leases.length > 0);
      expect(worker.leases.map((lease) => lease.runId)).toEqual([runId]);
      expect(worker.leases[0]).toMatchObject({ takeovers: 0 });
      expect(await statusOf(process, runId)).toBe("executing");
      expect(elsewhere.leases).toEqual([]);
      const [lease] = worker.leases;
      if (lease === undefined) throw new Error("no lease");
      expect(await worker.settle({ lease, next: "done" })).toBe(true);
    });

    it("gives the task of a process that died between commit and hand-over to another one", async () => {
      const [dying, other] = await openTwo(fixture, SHORT_LEASE_MS);
      const never = await startWorker(dying, untilAborted);
      const begun = await waitFor(() => {
        const runId = newId("run_");
        const attempt = dying.runtime.dispatch(tasksOf([runId]));
        if (attempt.handedOver.has(runId)) return { attempt, runId };
        attempt.abandoned();
        return null;
      });
      dispatched.push(begun.runId);
      await fixture.transaction((transaction) => begun.attempt.write(transaction, [begun.runId]));
      await dying.cutOff();
      const second = await startWorker(other, untilAborted);
      await waitFor(() => second.leases.length === 1, { what: "the take-over" });
      expect(second.leases[0]).toMatchObject({ runId: begun.runId });
      expect(never.leases).toEqual([]);
    });

    it("has its slots back after a hand-over that was rolled back", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const worker = await startWorker(process, finish, 1);
      await waitFor(() => {
        const begun = process.runtime.dispatch(tasksOf([newId("run_")]));
        begun.abandoned();
        return begun.handedOver.size === 1;
      });
      const runId = await dispatchHandedOver(process.runtime);
      await waitFor(async () => (await statusOf(process, runId)) === null);
      expect(worker.leases.map((lease) => lease.runId)).toEqual([runId]);
    });

    it("never hands over more tasks than a worker has slots, and executes the others, too", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      let atWork = 0;
      let most = 0;
      const worker = await startWorker(
        process,
        async ({ lease, settle }) => {
          atWork += 1;
          most = Math.max(most, atWork);
          await settle({ lease, next: "done" });
          atWork -= 1;
        },
        5,
      );
      const batches = await Promise.all([1, 2, 3].map(() => dispatchTold(process.runtime, 20)));
      for (const { handedOver } of batches) expect(handedOver.size).toBeLessThanOrEqual(5);
      await waitFor(() => worker.leases.length === 60, { what: "60 executions" });
      expect(most).toBeLessThanOrEqual(5);
    });

    it("hands nothing over while other tasks are due, which would be overtaken (D57)", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const release = Promise.withResolvers<void>();
      const worker = await startWorker(
        process,
        async ({ lease, settle }) => {
          await release.promise;
          await settle({ lease, next: "done" });
        },
        2,
      );
      const first = await dispatchTold(process.runtime, 4, newUuid());
      await waitFor(() => worker.leases.length === 2);
      const second = await dispatchTold(process.runtime, 1, newUuid());
      expect(second.handedOver.size).toBe(0);
      release.resolve();
      await waitFor(() => worker.leases.length === 5);
      expect(first.runIds).toContain(worker.leases[0]?.runId);
    });

    it("lets companies take turns, whoever has how many tasks due for how long (D57)", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const greedy = newUuid();
      const modest = [newUuid(), newUuid()];
      // More than a claim looks at, and all of them older.
      const many = await dispatchTold(process.runtime, 400, greedy);
      const few: string[] = [];
      for (const companyId of modest) {
        few.push(...(await dispatchTold(process.runtime, 3, companyId)).runIds);
      }
      const worker = await startWorker(process, finish, 4);
      await waitFor(() =>
        few.every((runId) => worker.leases.some((lease) => lease.runId === runId)),
      );
      const order = worker.leases.map(({ runId }) => runId);
      expect(Math.max(...few.map((runId) => order.indexOf(runId)))).toBeLessThan(100);
      const last = many.runIds.at(-1) ?? "";
      await waitFor(async () => (await statusOf(process, last)) === null, { timeoutMs: 20_000 });
    });

    it("gives a company at most half of the slots while another one waits (D57)", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const [greedy, modest] = [newUuid(), newUuid()];
      const many = await dispatchTold(process.runtime, 400, greedy);
      const also = await dispatchTold(process.runtime, 400, modest);
      const isGreedy = new Set(many.runIds);
      const atWork = { greedy: 0, modest: 0 };
      let most = 0;
      const worker = await startWorker(
        process,
        async ({ lease, settle }) => {
          const company = isGreedy.has(lease.runId) ? "greedy" : "modest";
          atWork[company] += 1;
          if (worker.leases.length < 200) most = Math.max(most, atWork.greedy, atWork.modest);
          await settle({ lease, next: "done" });
          atWork[company] -= 1;
        },
        10,
      );
      await waitFor(() => worker.leases.length >= 200, { what: "200 executions" });
      expect(most).toBeLessThanOrEqual(5);
      expect(also.handedOver.size).toBe(0);
    });

    it("executes tasks that may have killed workers one at a time, and the others meanwhile", async () => {
      const first = await fixture.open({ leaseMs: SHORT_LEASE_MS });
      const suspects = new Set((await dispatchTold(first.runtime, 3)).runIds);
      for (let deaths = 0; deaths < 2; deaths += 1) {
        const process = await fixture.open({ leaseMs: SHORT_LEASE_MS });
        const worker = await startWorker(process, untilAborted);
        await waitFor(() => worker.leases.length === 3, { what: "three suspects" });
        await process.cutOff();
      }
      const survivor = await fixture.open({ leaseMs: LONG_LEASE_MS });
      let atWork = 0;
      let most = 0;
      const done = new Set<string>();
      const bystanders = (await dispatchTold(survivor.runtime, 10)).runIds;
      await startWorker(survivor, async ({ lease, settle }) => {
        if (suspects.has(lease.runId)) {
          expect(lease.takeovers).toBe(2);
          atWork += 1;
          most = Math.max(most, atWork);
          await settle({ lease, next: "keep" });
          await settle({ lease, next: "done" });
          atWork -= 1;
        } else await settle({ lease, next: "done" });
        done.add(lease.runId);
      });
      await waitFor(() => done.size === 13, { what: "suspects and bystanders" });
      expect(most).toBe(1);
      expect(bystanders.every((runId) => done.has(runId))).toBe(true);
    });

    it("tries a task that comes to nothing again after pauses that grow", async () => {
      const process = await fixture.open({ leaseMs: LONG_LEASE_MS });
      const times: number[] = [];
      const worker = await startWorker(process, async ({ lease, settle }) => {
        times.push(performance.now());
        if (times.length === 3) await settle({ lease, next: "done" });
      });
      const runId = await dispatchOne(process.runtime);
      await waitFor(async () => (await statusOf(process, runId)) === null);
      const [start = 0, second = 0, third = 0] = times;
      // By the pauses themselves, since a busy machine only makes the times between them longer.
      expect(second - start).toBeGreaterThanOrEqual(500);
      expect(third - second).toBeGreaterThanOrEqual(1_000);
      expect(worker.leases.map(({ takeovers }) => takeovers)).toEqual([0, 0, 0]);
    });
  });
}
