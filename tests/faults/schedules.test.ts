import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createScope } from "@workflow/async";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { SeparateSystem } from "../support/separate-system.ts";
import { LONG, ROUNDS } from "./support/length.ts";

const SCHEDULES = 40;
/** All schedules come due so often. */
const FIRINGS = 2 * ROUNDS;
/** The firings of a round are spread over so long, so that kills fall between and into them. */
const SPREAD_MS = 4_000;
/** How many are still to fire at each kill: a worker that has just started gets to work before the next one. */
const KILLED_AT = [30, 20, 10];
const WORKERS = ["runs-worker", "runs-worker-2"] as const;
const PATIENCE_MS = 120_000;

const scope = createScope();
let system: SeparateSystem;
let database: Database;

beforeAll(async () => {
  system = await startSeparateSystem({ secondWorker: true });
  scope.defer(() => system.stop());
  database = await openDatabase({ connectionUri: system.databaseUri, applicationName: "test" });
  scope.defer(() => database.end());
}, LONG);
afterAll(() => scope.close(), LONG);

describe("kill -9 of the workers, in turn and both, while they fire schedules", () => {
  it(
    "starts one run for each firing, which completes, and plans the next one",
    async () => {
      for (let made = 0; made < SCHEDULES; made += 1) await activeSchedule();
      for (let firing = 0; firing < FIRINGS; firing += 1) {
        await comeDue();
        for (const [kill, left] of KILLED_AT.entries()) {
          await waitFor(async () => expect(await countDue()).toBeLessThanOrEqual(left), {
            timeoutMs: PATIENCE_MS,
            intervalMs: 5,
            what: `${SCHEDULES - left} of ${SCHEDULES} schedules to fire`,
          });
          await killNext(firing * KILLED_AT.length + kill);
        }
        await waitFor(async () => expect(await countDue()).toBe(0), {
          timeoutMs: PATIENCE_MS,
          what: "all schedules to fire",
        });
      }
      await waitFor(async () => expect(await runsByStatus()).toEqual({ completed: SCHEDULES }), {
        timeoutMs: PATIENCE_MS,
        what: "the runs of all firings to complete",
      });
    },
    LONG,
  );
});

/** A schedule whose own time is months away, whenever this is played. */
async function activeSchedule(): Promise<void> {
  const month = ((new Date().getUTCMonth() + 6) % 12) + 1;
  const trigger = {
    type: "schedule",
    cron: `0 0 1 ${month} *`,
    // What comes due while both workers are away is made up for.
    catchUp: "last",
    overlap: "allow",
  };
  const steps = [{ id: "out", type: "transform", name: "out", config: { mapping: 1 } }];
  const created = await system.call("POST", "/workflows", { name: "Scheduled", trigger, steps });
  expect(created.status).toBe(201);
  const id = String(created.body.data["id"]);
  expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
}

/** Makes the time of each schedule one of the next seconds. */
async function comeDue(): Promise<void> {
  await database.query(sql.type(z.object({}))`
    update runs.schedules
    set next_run_at = now() + random() * ${SPREAD_MS} * interval '1 millisecond'
  `);
}

/** The schedules whose time of this round is still to come, or has passed and was not acted upon. */
async function countDue(): Promise<number> {
  const { due } = await database.one(sql.type(z.object({ due: z.number() }))`
    select count(*)::integer as due
    from runs.schedules
    where next_run_at is null or next_run_at < now() + interval '1 day'
  `);
  return due;
}

/** Kills one worker or the other; every third time both, so that there is nobody left for a while. */
async function killNext(kill: number): Promise<void> {
  const victims = kill % 3 === 2 ? WORKERS : [WORKERS[kill % 2] ?? WORKERS[0]];
  await Promise.all(victims.map((name) => system.kill(name, "SIGKILL")));
  for (const name of victims) await system.start(name);
}

/** By status, the number of schedules that have as many runs of it as they have fired. */
async function runsByStatus(): Promise<Record<string, number>> {
  const rows = await database.any(
    sql.type(z.object({ runs: z.number(), status: z.string(), schedules: z.number() }))`
      select runs, status, count(*)::integer as schedules
      from (
        select workflow_id, status, count(*)::integer as runs
        from runs.runs
        where trigger_type = 'schedule'
        group by workflow_id, status
      ) as counted
      group by runs, status
    `,
  );
  return Object.fromEntries(
    rows.map(({ runs, status, schedules }) => [
      runs === FIRINGS ? status : `${runs} times ${status}`,
      schedules,
    ]),
  );
}
