import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { sql } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { migrateAll } from "../../deploy/dev/src/migrations.ts";
import type { Answer } from "../support/api-client.ts";
import { createActive, postRun, runIdOf, waitForRun } from "../support/scenarios.ts";
import { startReplicatedSystem } from "../support/whole-system.ts";
import type { ReplicatedSystem } from "../support/whole-system.ts";
import { LONG } from "./support/length.ts";
import { whyNoMounts } from "./support/mounted-disk.ts";
import { createSmallLogDisk } from "./support/small-log-disk.ts";
import type { SmallLogDisk } from "./support/small-log-disk.ts";

/*
 * The disk of Postgres's log is full while there is work: Postgres stops, and somebody makes room and starts it again.
 * The parts are processes of their own.
 */

const ONE_OF_EACH = {
  gateway: 1,
  workflows: 1,
  "runs-api": 1,
  "runs-worker": 1,
  tables: 1,
  integrations: 1,
  webhooks: 1,
};
const PATIENCE_MS = 150_000;
const AT_ONCE = 6;
const BULK_BYTES = 60_000;

const trouble = whyNoMounts();
const NOT_RUN = trouble === null ? "" : ` (not run: ${trouble})`;
const scope = createScope();
let disk: SmallLogDisk;
let system: ReplicatedSystem;
let receiver: HttpDouble;
/** Resolved when the receiver may answer. */
const answered = Promise.withResolvers<void>();

beforeAll(async () => {
  if (trouble !== null) return;
  disk = await createSmallLogDisk();
  scope.defer(() => disk.close());
  await migrateAll(disk.databaseUrl);
  receiver = await startHttpDouble(async ({ path }) => {
    if (path === "/held") await answered.promise;
    return { status: 200 };
  });
  scope.defer(() => receiver.close());
  system = await startReplicatedSystem(
    { databaseUrl: disk.databaseUrl },
    { replicas: ONE_OF_EACH },
  );
  scope.defer(() => system.stop());
}, LONG);
afterAll(() => scope.close(), LONG);

function callStep(path: string) {
  // Longer than Postgres stays away, however slow the machine is.
  const config = { method: "POST", url: `${receiver.url}${path}`, body: {}, timeoutMs: 600_000 };
  return { id: "call", type: "action", name: "call", action: "http.request", config };
}

/** A text of a number that does not become smaller when it is packed, so that the log is soon full. */
function bulkOf(number: number): string {
  const hash = createHash("shake256", { outputLength: BULK_BYTES });
  return hash.update(String(number)).digest("base64");
}

/** Starts of runs and new rows, each under a number: what was accepted of them, and what was refused. */
function createLoad(workflowId: string, tableId: string) {
  const runs = new Map<number, string>();
  const refused = new Set<number>();
  const rows: number[] = [];
  let next = 0;

  /** Starts the run of a number; a repetition is the same request under the same key. */
  const start = async (number: number): Promise<boolean> => {
    const input = { bulk: bulkOf(number) };
    const headers = { "idempotency-key": `start-${number}` };
    const answer = await postRun(system, workflowId, { input }, { headers });
    if (answer.status !== 202) {
      expectRefusal(answer);
      refused.add(number);
      return false;
    }
    runs.set(number, runIdOf(answer));
    refused.delete(number);
    return true;
  };
  const insert = async (number: number): Promise<void> => {
    const answer = await system.call("POST", `/tables/${tableId}/rows`, {
      body: { data: { number } },
    });
    if (answer.status === 201) rows.push(number);
    else expectRefusal(answer);
  };
  const work = async (isOver: () => boolean): Promise<void> => {
    while (!isOver()) {
      next += 1;
      const number = next;
      await insert(number);
      await start(number);
    }
  };
  return {
    /** The ids of accepted runs, by their numbers. */
    runs,
    /** The numbers of runs that were not accepted yet. */
    refused,
    /** The numbers of confirmed rows. */
    rows,
    start,
    /** Goes on, some at a time, until it is told that it is over. */
    keepOn: (isOver: () => boolean) =>
      Promise.all(Array.from({ length: AT_ONCE }, () => work(isOver))),
  };
}

function expectRefusal(answer: Answer): void {
  expect(answer).toMatchObject({ status: 503, error: { code: "UNAVAILABLE" } });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
}

const processes = () => system.apart.parts.processes;
const names = () => processes().map(({ plan }) => plan.name);
const pids = () => processes().map((each) => each.pid());

async function partsWithoutDatabase(): Promise<string[]> {
  const named: string[] = [];
  for (const each of processes()) {
    const { missing } = await each.state();
    if (missing.some((text) => text.startsWith("database: "))) named.push(each.plan.name);
  }
  return named;
}

describe(`a full disk of Postgres's log${NOT_RUN}`, () => {
  (trouble === null ? it : it.skip)(
    "stops Postgres: all is refused with 503, readiness tells, and nothing accepted is lost once it is back",
    async () => {
      const resting = await createActive(system, { steps: [callStep("/held")] });
      const quick = await createActive(system, { steps: [callStep("/quick")] });
      const table = await system.call("POST", "/tables", {
        body: { name: "Rows", columns: [{ id: "number", name: "number", type: "number" }] },
      });
      const { id: tableId } = z.object({ id: z.string() }).parse(table.data);
      const restingRun = runIdOf(await postRun(system, resting));
      await waitFor(() => expect(receiver.requests.map(({ path }) => path)).toContain("/held"));
      const before = pids();
      const load = createLoad(quick, tableId);

      await disk.fill();
      await load.keepOn(() => disk.hasEnded());
      expect(load.runs.size).toBeGreaterThan(0);
      await waitFor(async () => expect(await partsWithoutDatabase()).toEqual(names()), {
        timeoutMs: PATIENCE_MS,
        what: "each part to tell that it has no database",
      });
      for (const path of [`/runs/${restingRun}`, "/workflows", `/tables/${tableId}/rows`]) {
        expectRefusal(await system.call("GET", path));
      }
      expect(await load.start(0)).toBe(false);
      // Its answer comes while nothing can be stored.
      answered.resolve();

      await disk.free();
      for (const number of load.refused) {
        const what = `the start ${number} to be accepted`;
        await waitFor(() => load.start(number), { timeoutMs: PATIENCE_MS, what });
      }
      for (const id of [restingRun, ...load.runs.values()]) {
        expect(await waitForRun(system, id)).toMatchObject({ status: "completed" });
      }
      expect(await countRuns(quick)).toBe(load.runs.size);
      expect(await timesStored(load.rows)).toEqual(load.rows.map(() => 1));
      await system.apart.parts.untilReady(PATIENCE_MS);
      expect(pids()).toEqual(before);
    },
    LONG,
  );
});

function countRuns(workflowId: string): Promise<number> {
  return system.database.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*)::integer as count from runs.runs where workflow_id = ${workflowId}
  `);
}

/** How often each of these rows is there. */
async function timesStored(numbers: readonly number[]): Promise<number[]> {
  const found = await system.database.anyFirst(sql.type(z.object({ number: z.number() }))`
    select (data ->> 'number')::integer as number from tables.rows
  `);
  return numbers.map((number) => found.filter((other) => other === number).length);
}
