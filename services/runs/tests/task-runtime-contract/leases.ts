import { expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import type { Lease, RuntimePlatform } from "../../src/task-runtime/port.ts";
import { LONG_LEASE_MS, SHORT_LEASE_MS } from "../support/runtime-bench.ts";
import type { RuntimeBench } from "../support/runtime-bench.ts";
import { untilAborted } from "../support/task-workers.ts";
import type { RuntimeProcess, Work } from "../support/task-workers.ts";

/** The promises of every adapter of the port `TaskRuntime` about tasks whose workers fall silent, stop or die. */
export function describeTaskLeases<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  describeTakeOvers(bench);
  describeLongLeases(bench);
  describeCountedDeaths(bench);
  describeReturnedTasks(bench);
  describeSuspects(bench);
}

/** Tasks of a worker that fell silent go to another one. */
function describeTakeOvers<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchOne, openTwo, startWorker, statusOf, transaction } = bench;

  it("gives the task of a worker that fell silent to another one, after a lease", async () => {
    const [silent, other] = await openTwo(SHORT_LEASE_MS);
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
    const [silent, other] = await openTwo(SHORT_LEASE_MS);
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
    const [stalled, other] = await openTwo(SHORT_LEASE_MS);
    const first = await startWorker(stalled, untilAborted);
    const runId = await dispatchOne(stalled.runtime);
    const lease = await waitFor(() => first.leases[0] ?? null);
    // Another process ends the run without a message to this one.
    const { runtime } = other;
    await transaction((transaction) => runtime.cancel(transaction, [runId]));
    await waitFor(() => lease.signal.aborted, { what: "the signal to be aborted" });
  });
}

/** A lease lasts while its worker lives, and ends with the task. */
function describeLongLeases<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatch, dispatchOne, openTwo, startWorker, statusOf, transaction } = bench;

  it("keeps a task that takes many leases' time with its worker", async () => {
    // This lease outlasts a pause of the machine.
    const leaseMs = 2 * SHORT_LEASE_MS;
    const [process, other] = await openTwo(leaseMs);
    const later = new Date(Date.now() + 4 * leaseMs);
    const roles = new Map<string, "long" | "clock">();
    let rang = false;
    const work: Work = async ({ lease, settle, over }) => {
      if (roles.get(lease.runId) === "long") return untilAborted({ lease, over });
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
    const leases = both.flatMap((worker) => worker.leases.filter(({ runId }) => runId === longId));
    expect(leases).toHaveLength(1);
    expect(leases[0]?.signal.aborted).toBe(false);
  });

  it("stops the execution of a task that is cancelled and refuses what it settles", async () => {
    const [process, other] = await openTwo(LONG_LEASE_MS);
    const worker = await startWorker(process, untilAborted);
    const runId = await dispatchOne(process.runtime);
    const lease = await waitFor(() => worker.leases[0] ?? null);
    await transaction((transaction) => other.runtime.cancel(transaction, [runId]));
    await waitFor(() => lease.signal.aborted, { what: "the signal to be aborted" });
    expect(await worker.settle({ lease, next: "done" })).toBe(false);
    expect(await statusOf(process, runId)).toBeNull();
  });
}

/** Deaths are counted from the last progress of a task. */
function describeCountedDeaths<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatch, dispatchOne, keep, open, openTwo, over, startWorker } = bench;

  it("counts the leases that ran out since the task last made progress (D30)", async () => {
    const seen: number[] = [];
    const first = await open({ leaseMs: SHORT_LEASE_MS });
    const runId = await dispatchOne(first.runtime);
    const takeOver = async (process: RuntimeProcess<P>, progress: boolean): Promise<void> => {
      const worker = await startWorker(process, untilAborted);
      const lease = await waitFor(() => worker.leases[0] ?? null);
      expect(lease.runId).toBe(runId);
      seen.push(lease.takeovers);
      if (progress) expect(await worker.settle({ lease, next: "keep" })).toBe(true);
      await process.cutOff();
    };
    await takeOver(first, false);
    for (const progress of [false, true, false]) {
      await takeOver(await open({ leaseMs: SHORT_LEASE_MS }), progress);
    }
    expect(seen).toEqual([0, 1, 2, 1]);
  });

  it("counts no death between the claim and the beginning of the execution (D30)", async () => {
    const [dying, other] = await openTwo(SHORT_LEASE_MS);
    const claimed: Lease[] = [];
    const never = await dying.runtime.startWorker({
      concurrency: 1,
      execute(leases, finished) {
        claimed.push(...leases);
        for (const lease of leases) {
          void untilAborted({ lease, over: over() }).then(() =>
            finished(lease, { next: "release" }),
          );
        }
      },
    });
    keep(never);
    const runIds = await dispatch(1);
    await waitFor(() => claimed.length === 1, { what: "the first claim" });
    await dying.cutOff();
    const second = await startWorker(other, untilAborted);
    await waitFor(() => second.leases.length === 1, { what: "the take-over" });
    expect(second.leases[0]).toMatchObject({ runId: runIds[0], takeovers: 0 });
    expect(await never.begin(claimed).catch(() => new Set())).toEqual(new Set());
  });
}

/** Tasks without a settlement come back. */
function describeReturnedTasks<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchOne, open, openTwo, startWorker, statusOf } = bench;

  it("gives the tasks of a worker that stops to another one at once", async () => {
    const [process, other] = await openTwo(LONG_LEASE_MS);
    const first = await startWorker(process, untilAborted);
    const runId = await dispatchOne(process.runtime);
    const lease = await waitFor(() => first.leases[0] ?? null);
    const second = await startWorker(other, untilAborted);
    await first.runtimeWorker.stop();
    expect(lease.signal.aborted).toBe(true);
    await waitFor(() => second.leases.length === 1, { what: "the other worker's claim" });
    expect(second.leases[0]).toMatchObject({ runId, takeovers: 0 });
  });

  it("executes a task again whose execution ended without a settlement", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    const worker = await startWorker(process, async ({ lease, settle }) => {
      if (worker.leases.length > 1) await settle({ lease, next: "done" });
    });
    const runId = await dispatchOne(process.runtime);
    await waitFor(async () => (await statusOf(process, runId)) === null);
    expect(worker.leases.map(({ takeovers }) => takeovers)).toEqual([0, 0]);
  });

  it("tries a task that comes to nothing again after pauses that grow", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    const times: number[] = [];
    const worker = await startWorker(process, async ({ lease, settle }) => {
      times.push(performance.now());
      if (times.length === 3) await settle({ lease, next: "done" });
    });
    const runId = await dispatchOne(process.runtime);
    await waitFor(async () => (await statusOf(process, runId)) === null);
    const [start = 0, second = 0, third = 0] = times;
    // The test reads the pauses themselves, since a busy machine only makes the times between them longer.
    expect(second - start).toBeGreaterThanOrEqual(500);
    expect(third - second).toBeGreaterThanOrEqual(1_000);
    expect(worker.leases.map(({ takeovers }) => takeovers)).toEqual([0, 0, 0]);
  });
}

/** Tasks that may have killed workers run one at a time. */
function describeSuspects<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchTold, open, startWorker } = bench;

  it("executes tasks that may have killed workers one at a time, and the others meanwhile", async () => {
    const first = await open({ leaseMs: SHORT_LEASE_MS });
    const suspects = new Set((await dispatchTold(first.runtime, 3)).runIds);
    for (let deaths = 0; deaths < 2; deaths += 1) {
      const process = await open({ leaseMs: SHORT_LEASE_MS });
      const worker = await startWorker(process, untilAborted);
      await waitFor(() => worker.leases.length === 3, { what: "three suspects" });
      await process.cutOff();
    }
    const survivor = await open({ leaseMs: LONG_LEASE_MS });
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
}
