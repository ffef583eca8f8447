import { expect, it } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import type { RuntimePlatform } from "../../src/task-runtime/port.ts";
import { LONG_LEASE_MS, SHORT_LEASE_MS, tasksOf } from "../support/runtime-bench.ts";
import type { RuntimeBench } from "../support/runtime-bench.ts";
import { finish, untilAborted } from "../support/task-workers.ts";

/**
 * The promises of every adapter of the port `TaskRuntime` about turns, and about tasks for a free worker of the
 * same process.
 */
export function describeTaskHandOver<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  describeHandOvers(bench);
  describeSlotLimits(bench);
  describeTurns(bench);
  describeCompanyTurns(bench);
}

/** A new task goes to a free worker of its process. */
function describeHandOvers<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchHandedOver, openTwo, remember, startWorker, statusOf, transaction } = bench;

  it("hands a task to a free worker of the process that stores it, which executes it once", async () => {
    const [process, other] = await openTwo(LONG_LEASE_MS);
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
    const [dying, other] = await openTwo(SHORT_LEASE_MS);
    const never = await startWorker(dying, untilAborted);
    const begun = await waitFor(() => {
      const runId = newId("run_");
      const attempt = dying.runtime.dispatch(tasksOf([runId]));
      if (attempt.handedOver.has(runId)) return { attempt, runId };
      attempt.abandoned();
      return null;
    });
    remember(begun.runId);
    await transaction((transaction) => begun.attempt.write(transaction, [begun.runId]));
    await dying.cutOff();
    const second = await startWorker(other, untilAborted);
    await waitFor(() => second.leases.length === 1, { what: "the take-over" });
    expect(second.leases[0]).toMatchObject({ runId: begun.runId });
    expect(never.leases).toEqual([]);
  });
}

/** Hand-overs keep to the free slots. */
function describeSlotLimits<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchHandedOver, dispatchTold, open, startWorker, statusOf } = bench;

  it("has its slots back after a hand-over that was rolled back", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
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
    const process = await open({ leaseMs: LONG_LEASE_MS });
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
}

/** Hand-overs overtake nobody. */
function describeTurns<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchTold, open, startWorker } = bench;

  it("hands nothing over while other tasks are due, which would be overtaken (D57)", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
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
}

/** Companies take turns (D57). */
function describeCompanyTurns<P extends RuntimePlatform>(bench: RuntimeBench<P>): void {
  const { dispatchTold, open, startWorker, statusOf } = bench;

  it("lets companies take turns, whoever has how many tasks due for how long (D57)", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
    const greedy = newUuid();
    const modest = [newUuid(), newUuid()];
    // More tasks than a claim reads, all of them older.
    const many = await dispatchTold(process.runtime, 400, greedy);
    const few: string[] = [];
    for (const companyId of modest) {
      few.push(...(await dispatchTold(process.runtime, 3, companyId)).runIds);
    }
    const worker = await startWorker(process, finish, 4);
    await waitFor(() => few.every((runId) => worker.leases.some((lease) => lease.runId === runId)));
    const order = worker.leases.map(({ runId }) => runId);
    expect(Math.max(...few.map((runId) => order.indexOf(runId)))).toBeLessThan(100);
    const last = many.runIds.at(-1) ?? "";
    await waitFor(async () => (await statusOf(process, last)) === null, { timeoutMs: 60_000 });
  });

  it("gives a company at most half of the slots while another one waits (D57)", async () => {
    const process = await open({ leaseMs: LONG_LEASE_MS });
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
}
