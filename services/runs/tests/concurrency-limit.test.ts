import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { acquireSlot } from "../src/concurrency/acquire-slot.ts";
import type { AcquireOutcome, SlotAcquisition } from "../src/concurrency/acquire-slot.ts";
import { runEndHooks } from "../src/journal/end-hooks.ts";
import { releaseSlots } from "../src/concurrency/release-slots.ts";
import type { EndedRun } from "../src/domain/ended-run.ts";
import { takeWakeUps } from "../src/store/wake-ups.ts";

const nothing = z.object({});
const idRow = z.object({ run_id: z.string() });

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await guardLimits(testDatabase.connectionUri);
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    role: "workflow_runs",
    applicationName: "test",
    maxConnections: 16,
  });
});
afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

/** Makes the database itself refuse a slot too many, at any moment. */
async function guardLimits(connectionUri: string): Promise<void> {
  const admin = await openDatabase({ connectionUri, applicationName: "test" });
  await admin.query(sql.type(nothing)`
    create function runs.check_limit() returns trigger language plpgsql as $$
    declare holders integer; declare slots integer;
    begin
      select count(*), max(run_limit) into holders, slots from runs.concurrency_slots
      where workflow_id = new.workflow_id and held;
      if holders > slots then
        raise exception '% runs hold % slots', holders, slots;
      end if;
      return null;
    end $$
  `);
  await admin.query(sql.type(nothing)`
    create trigger check_limit after insert or update on runs.concurrency_slots
    for each row when (new.held) execute function runs.check_limit()
  `);
  await admin.end();
}

async function makeRuns(workflowId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId("run_"));
  await database.query(sql.type(nothing)`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input, created_at
    )
    select id, ${newUuid()}, ${workflowId}, ${newUuid()}, 1, 'api', '{}', now()
    from ${sql.unnest(
      ids.map((id) => [id]),
      ["text"],
    )} as run (id)
  `);
  return ids;
}

/** Ends runs like any end does: first their rows, then what else follows. */
async function end(workflowId: string, runIds: readonly string[], limited = true): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`
      update runs.runs set status = 'cancelled', completed_at = now()
      where id = any(${sql.array([...runIds], "text")})
    `);
    const ended = runIds.map((runId) => ({ ...endedRun(workflowId, runId), limited }));
    await runEndHooks(transaction, [releaseSlots], ended);
  });
}

function endedRun(workflowId: string, runId: string): EndedRun {
  return {
    runId,
    workflowId,
    status: "cancelled",
    error: null,
    triggerType: "api",
    scheduleId: null,
    waitingParentRunId: null,
    limited: true,
  };
}

function enter(
  workflowId: string,
  runId: string,
  more: Partial<SlotAcquisition> = {},
): Promise<AcquireOutcome> {
  return acquireSlot(database, { runId, workflowId, limit: 1, onLimit: "queue", ...more });
}

async function enterAll(
  workflowId: string,
  runIds: readonly string[],
  more: Partial<SlotAcquisition> = {},
): Promise<AcquireOutcome[]> {
  const outcomes: AcquireOutcome[] = [];
  for (const runId of runIds) outcomes.push(await enter(workflowId, runId, more));
  return outcomes;
}

async function listHolders(workflowId: string): Promise<string[]> {
  const rows = await database.any(sql.type(idRow)`
    select run_id from runs.concurrency_slots
    where workflow_id = ${workflowId} and held order by run_id
  `);
  return rows.map((row) => row.run_id);
}

async function countSlots(workflowId: string): Promise<number> {
  const row = await database.one(sql.type(z.object({ slots: z.number() }))`
    select count(*)::integer as slots from runs.concurrency_slots where workflow_id = ${workflowId}
  `);
  return row.slots;
}

async function takeWoken(): Promise<readonly string[]> {
  return database.transaction((transaction) => takeWakeUps(transaction, 1_000));
}

/** Wake-ups of these runs, without those of other tests. */
async function wokenOf(runIds: readonly string[]): Promise<string[]> {
  const rows = await database.any(sql.type(idRow)`
    select run_id from runs.wake_ups where run_id = any(${sql.array([...runIds], "text")})
    order by id
  `);
  return rows.map((row) => row.run_id);
}

describe("a concurrency limit with onLimit queue (D15)", () => {
  it("lets so many runs in and the others wait for their turn, in the order of their ids", async () => {
    const workflowId = newUuid();
    const runs = await makeRuns(workflowId, 5);
    const [a = "", b = "", c = "", d = "", e = ""] = runs;
    expect(await enterAll(workflowId, [a, b, e, d, c], { limit: 2 })).toEqual([
      "entered",
      "entered",
      "queued",
      "queued",
      "queued",
    ]);
    await end(workflowId, [b]);
    expect(await listHolders(workflowId)).toEqual([a, c]);
    await end(workflowId, [a, c]);
    expect(await listHolders(workflowId)).toEqual([d, e]);
    expect(await wokenOf(runs)).toEqual([c, d, e]);
    await end(workflowId, [d, e]);
    expect(await countSlots(workflowId)).toBe(0);
  });

  it("knows a run again that asks twice: with a slot, and in the queue", async () => {
    const workflowId = newUuid();
    const [first = "", second = ""] = await makeRuns(workflowId, 2);
    const asked = [first, second, first, second];
    expect(await enterAll(workflowId, asked)).toEqual(["entered", "queued", "entered", "queued"]);
    expect(await countSlots(workflowId)).toBe(2);
    await end(workflowId, [first]);
    expect(await enter(workflowId, second)).toBe("entered");
  });

  it("takes a run out of the queue that ends there, and wakes nobody for it", async () => {
    const workflowId = newUuid();
    const runs = await makeRuns(workflowId, 3);
    const [first = "", second = "", third = ""] = runs;
    await enterAll(workflowId, runs);
    await end(workflowId, [second]);
    expect(await wokenOf(runs)).toEqual([]);
    await end(workflowId, [first]);
    expect(await listHolders(workflowId)).toEqual([third]);
    expect(await wokenOf(runs)).toEqual([third]);
  });

  it("gives no slot to a run that has ended", async () => {
    const workflowId = newUuid();
    const [gone = "", next = ""] = await makeRuns(workflowId, 2);
    await end(workflowId, [gone]);
    expect(await enter(workflowId, gone)).toBe("queued");
    expect(await enter(workflowId, next)).toBe("entered");
    expect(await countSlots(workflowId)).toBe(1);
  });

  it("leaves no slot behind when the end of a run overtakes its entrance", async () => {
    const workflowId = newUuid();
    const runs = await makeRuns(workflowId, 100);
    await Promise.all(
      runs.flatMap((runId) => [enter(workflowId, runId, { limit: 7 }), end(workflowId, [runId])]),
    );
    expect(await countSlots(workflowId)).toBe(0);
  });

  it("keeps slot and queue as they were when the transaction that ends the run fails", async () => {
    const workflowId = newUuid();
    const runs = await makeRuns(workflowId, 2);
    await enterAll(workflowId, runs);
    const failing = database.transaction(async (transaction) => {
      await releaseSlots.write(transaction, [endedRun(workflowId, runs[0] ?? "")]);
      throw new Error("the disk is full");
    });
    await expect(failing).rejects.toThrow("the disk is full");
    expect(await listHolders(workflowId)).toEqual(runs.slice(0, 1));
    expect(await wokenOf(runs)).toEqual([]);
  });

  it("judges each run by the limit of its own version", async () => {
    const workflowId = newUuid();
    const runs = await makeRuns(workflowId, 4);
    const [a = "", b = "", c = "", d = ""] = runs;
    expect(await enterAll(workflowId, [a, b], { limit: 1 })).toEqual(["entered", "queued"]);
    // There would be room for it, but it may not overtake the one before.
    expect(await enter(workflowId, c, { limit: 3 })).toBe("queued");
    expect(await enter(workflowId, d, { limit: 3 })).toBe("queued");
    await end(workflowId, [a]);
    expect(await listHolders(workflowId)).toEqual([b, c, d]);
    expect(await wokenOf(runs)).toEqual([b, c, d]);
  });

  it("keeps workflows apart", async () => {
    const [one, other] = [newUuid(), newUuid()];
    const ones = await makeRuns(one, 2);
    const others = await makeRuns(other, 2);
    await enterAll(one, ones);
    await enterAll(other, others);
    await end(one, ones.slice(0, 1));
    expect(await listHolders(one)).toEqual(ones.slice(1));
    expect(await listHolders(other)).toEqual(others.slice(0, 1));
  });

  it("does not concern runs without a limit", async () => {
    const workflowId = newUuid();
    const [first = ""] = await makeRuns(workflowId, 1);
    await enter(workflowId, first);
    await end(workflowId, [first], false);
    expect(await listHolders(workflowId)).toEqual([first]);
  });
});

describe("a concurrency limit with onLimit skip (D15)", () => {
  it("turns away runs that find no room, and forgets them", async () => {
    const workflowId = newUuid();
    const runs = await makeRuns(workflowId, 3);
    const skip = { onLimit: "skip" as const };
    expect(await enterAll(workflowId, runs, skip)).toEqual(["entered", "skipped", "skipped"]);
    expect(await countSlots(workflowId)).toBe(1);
    await end(workflowId, runs.slice(0, 1));
    const [later = ""] = await makeRuns(workflowId, 1);
    expect(await enter(workflowId, later, skip)).toBe("entered");
  });

  it("admits exactly the limit of many that come at once", async () => {
    const workflowId = newUuid();
    const runs = await makeRuns(workflowId, 40);
    const outcomes = await Promise.all(
      runs.map((runId) => enter(workflowId, runId, { limit: 4, onLimit: "skip" })),
    );
    expect(outcomes.filter((outcome) => outcome === "entered")).toHaveLength(4);
    expect(outcomes.filter((outcome) => outcome === "skipped")).toHaveLength(36);
  });
});

describe("200 runs of a limit of three, executed by eight workers that die now and then", () => {
  it("all run, never more than three at a time, about in the order in which they came", async () => {
    const workflowId = newUuid();
    const runs = await makeRuns(workflowId, 200);
    const due = [...runs];
    const left = new Set(runs);
    const begun: string[] = [];
    let turns = 0;

    const work = async (): Promise<void> => {
      while (left.size > 0) {
        const runId = due.shift();
        if (runId === undefined) {
          // Earlier tests may have left others to be woken.
          due.push(...(await takeWoken()).filter((woken) => left.has(woken)));
          await nextTurn();
          continue;
        }
        turns += 1;
        const outcome = await enter(workflowId, runId, { limit: 3 });
        if (outcome === "entered" && !begun.includes(runId)) begun.push(runId);
        if (outcome !== "entered") continue;
        // Every seventh worker dies while it executes its run. Another worker takes the run over.
        if (turns % 7 === 0) due.push(runId);
        else {
          await end(workflowId, [runId]);
          left.delete(runId);
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));

    expect(begun).toHaveLength(200);
    expect(await countSlots(workflowId)).toBe(0);
    const strays = begun.map((runId, place) => Math.abs(runs.indexOf(runId) - place));
    expect(Math.max(...strays)).toBeLessThanOrEqual(16);
  });

  it("ends of several workflows in one transaction do not get in each other's way", async () => {
    const workflows = Array.from({ length: 6 }, () => newUuid());
    const runs = new Map<string, string[]>();
    for (const id of workflows) runs.set(id, await makeRuns(id, 20));
    for (const [id, ids] of runs) await enterAll(id, ids, { limit: 5 });
    const batches = Array.from({ length: 20 }, (_, index) =>
      workflows
        .map((workflowId) => ({ workflowId, runId: runs.get(workflowId)?.[index] ?? "" }))
        .toSorted(() => (index % 2 === 0 ? 1 : -1)),
    );
    await Promise.all(
      batches.map((batch) =>
        database.transaction((transaction) =>
          releaseSlots.write(
            transaction,
            batch.map(({ workflowId, runId }) => endedRun(workflowId, runId)),
          ),
        ),
      ),
    );
    for (const id of workflows) expect(await countSlots(id)).toBe(0);
  });
});
