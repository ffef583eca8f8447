import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { migrate, newId, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database, Queryable } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import { createScope } from "@workflow/service";
import { z } from "zod";
import { listWrittenBy } from "../src/store/transaction-outcome.ts";

const nothing = z.object({});
const idRow = z.object({ id: z.string() });

const scope = createScope();
let dataDir: string;
let pid: number;
let database: Database;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "transaction-outcome-"));
  scope.defer(() => rm(dataDir, { recursive: true, force: true }));
  const connectionUri = await startPostgres();
  await migrate({
    connectionUri,
    services: [
      {
        schema: "runs",
        role: "workflow_runs",
        directory: join(import.meta.dirname, "../migrations"),
      },
    ],
  });
  await open(connectionUri);
}, 60_000);
afterAll(() => scope.close(), 60_000);

/** Starts a server that keeps to itself: what is not committed stays in its memory. */
async function startPostgres(): Promise<string> {
  const settings = { wal_writer_delay: "10s", autovacuum: "off" };
  const postgres = await startLocalPostgres({ dataDir, durable: true, settings });
  scope.defer(() => postgres.stop());
  ({ pid } = postgres);
  return postgres.connectionUri;
}

async function open(connectionUri: string): Promise<void> {
  const opened = await openDatabase({
    connectionUri,
    role: "workflow_runs",
    applicationName: "test",
    onError: () => {},
  });
  scope.defer(() => opened.end());
  database = opened;
}

async function makeRun(): Promise<string> {
  const id = newId("run_");
  await database.query(sql.type(nothing)`
    insert into runs.runs (
      id, company_id, workflow_id, deployment_id, workflow_version, trigger_type, input, created_at
    )
    values (${id}, ${newUuid()}, ${newUuid()}, ${newUuid()}, 1, 'api', '{}', now())
  `);
  return id;
}

/** Writes a run and says in which transaction. */
function write(queryable: Queryable, runId: string): Promise<string> {
  return queryable.oneFirst(sql.type(idRow)`
    update runs.runs set status = 'running' where id = ${runId}
    returning pg_current_xact_id()::text as id
  `);
}

describe("what a transaction without an answer has written", () => {
  it("is found in the rows when it was committed", async () => {
    const [first, second, other] = [await makeRun(), await makeRun(), await makeRun()];
    const transactionId = await database.transaction(async (transaction) => {
      await write(transaction, first);
      return write(transaction, second);
    });
    const written = await listWrittenBy(database, transactionId, [first, second, other]);
    expect(written.toSorted()).toEqual([first, second]);
  });

  it("is nothing when it was rolled back, and not known while it runs", async () => {
    const runId = await makeRun();
    let transactionId = "";
    const rolledBack = database.transaction(async (transaction) => {
      transactionId = await write(transaction, runId);
      await expect(listWrittenBy(database, transactionId, [runId])).rejects.toMatchObject({
        reason: "UNAVAILABLE",
      });
      throw new Error("no");
    });
    await expect(rolledBack).rejects.toThrow("no");
    expect(await listWrittenBy(database, transactionId, [runId])).toEqual([]);
  });

  it("does not count what another has written since", async () => {
    const runId = await makeRun();
    const transactionId = await write(database, runId);
    await write(database, runId);
    expect(await listWrittenBy(database, transactionId, [runId])).toEqual([]);
  });

  it("is nothing when Postgres crashed before the commit and gave the id to another", async () => {
    const [lost, other] = [await makeRun(), await makeRun()];
    let lostId = "";
    const interrupted = database.transaction(async (transaction) => {
      lostId = await write(transaction, lost);
      process.kill(pid, "SIGKILL");
      // Its processes may outlive it for a moment, in which they would commit.
      throw new Error("the machine is gone");
    });
    await expect(interrupted).rejects.toThrow();
    await open(await startPostgres());
    // As it is right after the start: the id has not been given to anybody.
    expect(await listWrittenBy(database, lostId, [lost])).toEqual([]);
    let id = "";
    while (Number(id) < Number(lostId)) id = await write(database, other);
    expect(id).toBe(lostId);
    expect(await listWrittenBy(database, lostId, [lost])).toEqual([]);
  }, 60_000);
});
