import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createScope } from "@workflow/async";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { createActive, postRun, runIdOf, waitForRun } from "../support/scenarios.ts";
import { startReplicatedSystem } from "../support/whole-system.ts";
import type { ReplicatedSystem } from "../support/whole-system.ts";
import { LONG } from "./support/length.ts";
import { createSmallDisk } from "./support/small-disk.ts";
import type { SmallDisk } from "./support/small-disk.ts";

/*
 * The disk of Postgres gets full during work, and has room again. The parts are processes of their own.
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
const PATIENCE_MS = 120_000;
/** More requests than the existing pages have room for. */
const TRIES_MAX = 5_000;

const scope = createScope();
let disk: SmallDisk;
let system: ReplicatedSystem;
let receiver: HttpDouble;
/** Resolved when the receiver may answer. */
const answered = Promise.withResolvers<void>();

beforeAll(async () => {
  disk = await createSmallDisk();
  scope.defer(() => disk.close());
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

/** A text that fits into no page and hardly compresses. */
const bulk = (): string => randomBytes(30_000).toString("base64");

function callStep(path: string) {
  // Longer than the disk stays full, however slow the machine is.
  const config = { method: "POST", url: `${receiver.url}${path}`, body: {}, timeoutMs: 600_000 };
  return { id: "call", type: "action", name: "call", action: "http.request", config };
}

/** Writes until one is refused for lack of room; returns the answers before that. */
async function untilRefused(write: (place: number) => Promise<Answer>): Promise<Answer[]> {
  const accepted: Answer[] = [];
  for (let place = 0; place < TRIES_MAX; place += 1) {
    const answer = await write(place);
    if (answer.status >= 300) {
      expect(answer).toMatchObject({ status: 503, error: { code: "UNAVAILABLE" } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      return accepted;
    }
    accepted.push(answer);
  }
  throw new Error(`${TRIES_MAX} writes found room.`);
}

const processes = () => system.apart.parts.processes;
const pids = () => processes().map((each) => each.pid());

async function impairedParts(): Promise<string[]> {
  const named: string[] = [];
  for (const each of processes()) {
    const { missing, impaired } = await each.state();
    expect({ name: each.plan.name, missing }).toEqual({ name: each.plan.name, missing: [] });
    if (impaired.some((text) => text.startsWith("database: the disk of Postgres is full"))) {
      named.push(each.plan.part.name);
    }
  }
  return named;
}

async function createTable(): Promise<string> {
  const columns = [{ id: "text", name: "text", type: "text" }];
  const { data } = await system.call("POST", "/tables", { body: { name: "Rows", columns } });
  return z.object({ id: z.string() }).parse(data).id;
}

/** The stored runs of a workflow, and the stored rows of all tables. */
function countStored(workflowId: string) {
  return system.database.one(sql.type(z.object({ runs: z.number(), rows: z.number() }))`
    select
      (select count(*) from runs.runs where workflow_id = ${workflowId})::integer as runs,
      (select count(*) from tables.rows)::integer as rows
  `);
}

describe("a full disk of Postgres", () => {
  it(
    "refuses writes with 503, is told by readiness, loses nothing, and ends when there is room",
    async () => {
      const resting = await createActive(system, { steps: [callStep("/held")] });
      const quick = await createActive(system, { steps: [callStep("/quick")] });
      const tableId = await createTable();
      const restingRun = runIdOf(await postRun(system, resting));
      await waitFor(() => expect(receiver.requests.map(({ path }) => path)).toContain("/held"));
      const before = pids();

      await disk.fill();
      const start = (place: number) =>
        postRun(
          system,
          quick,
          { input: { bulk: bulk() } },
          { headers: { "idempotency-key": `start-${place}` } },
        );
      const starts = await untilRefused(start);
      const rows = await untilRefused(() =>
        system.call("POST", `/tables/${tableId}/rows`, { body: { data: { text: bulk() } } }),
      );
      const description = () => bulk().slice(0, 900);
      const body = { name: "More", trigger: { type: "api" }, steps: [callStep("/never")] };
      await untilRefused(() =>
        system.call("POST", "/workflows", { body: { ...body, description: description() } }),
      );

      // Reads go on, and every part stays ready.
      const reads = [`/runs/${restingRun}`, "/workflows", `/tables/${tableId}/rows?limit=1`];
      for (const path of reads) expect((await system.call("GET", path)).status).toBe(200);
      await waitFor(
        async () => {
          await start(starts.length);
          expect(await impairedParts()).toContain("runs-api");
        },
        { timeoutMs: PATIENCE_MS, what: "readiness to tell of the disk" },
      );
      answered.resolve();

      await disk.free();
      // The refused start comes again under its key, and makes one run.
      const again = await waitFor(
        async () => {
          const answer = await start(starts.length);
          return answer.status === 202 ? answer : null;
        },
        { timeoutMs: PATIENCE_MS, what: "a start to find room" },
      );
      for (const answer of [...starts, again]) {
        expect(await waitForRun(system, runIdOf(answer))).toMatchObject({ status: "completed" });
      }
      expect(await waitForRun(system, restingRun)).toMatchObject({ status: "completed" });
      expect(await countStored(quick)).toEqual({ runs: starts.length + 1, rows: rows.length });
      await waitFor(async () => expect(await impairedParts()).toEqual([]), {
        timeoutMs: PATIENCE_MS,
        what: "readiness to be whole again",
      });
      expect(pids()).toEqual(before);
    },
    LONG,
  );
});
