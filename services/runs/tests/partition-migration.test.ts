import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { migrate, newId, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import { z } from "zod";

const MIGRATIONS = join(import.meta.dirname, "../migrations");
/** The first migration that makes partitions (ADR 31). */
const PARTITIONS = "0013";
const nothing = z.object({});

const scope = createScope();
let database: Database;
let connectionUri: string;
let before: string;

/** Rows from before the migration. */
const parent = { id: newId("run_") };
const child = { id: newId("run_"), parentRunId: parent.id };
let fileBefore: number;

beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  scope.defer(() => testDatabase.close());
  ({ connectionUri } = testDatabase);
  database = await openDatabase({ connectionUri, applicationName: "test" });
  scope.defer(() => database.end());
  before = await mkdtemp(join(tmpdir(), "migrations-"));
  scope.defer(() => rm(before, { recursive: true }));
  for (const file of await readdir(MIGRATIONS)) {
    if (file < PARTITIONS) await cp(join(MIGRATIONS, file), join(before, file));
  }
  await database.query(sql.type(nothing)`drop schema runs cascade`);
  await migrateFrom(before);
  await storeRun(parent);
  await storeRun(child);
  fileBefore = await fileOf();
  await migrateFrom(MIGRATIONS);
});
afterAll(() => scope.close());

const migrateFrom = (directory: string) =>
  migrate({ connectionUri, services: [{ schema: "runs", role: "workflow_runs", directory }] });

interface Stored {
  id: string;
  parentRunId?: string;
}

/** Stores an ended run with a step result, as the version before does. */
async function storeRun({ id, parentRunId }: Stored): Promise<void> {
  await database.query(sql.type(nothing)`
    with run as (
      insert into runs.runs (
        id, company_id, workflow_id, deployment_id, workflow_version, status, trigger_type, input,
        created_at, completed_at, parent_run_id, parent_step
      )
      values (
        ${id}, ${newUuid()}, ${newUuid()}, ${newUuid()}, 1, 'completed', 'api', '{}', now(), now(),
        ${parentRunId ?? null}, case when ${parentRunId ?? null}::text is not null then 'a:1' end
      )
    )
    insert into runs.step_results (
      run_id, path, seq, step_id, type, status, started_at, completed_at
    )
    values (${id}, 'a', 1, 'a', 'transform', 'success', now(), now())
  `);
}

const storedRow = z.object({
  id: z.string(),
  part: z.string(),
  results: z.number(),
  child: z.string().nullable(),
});

const readStored = (runId: string) =>
  database.maybeOne(sql.type(storedRow)`
    select id, tableoid::regclass::text as part,
      (select count(*)::integer from runs.step_results where run_id = run.id) as results,
      (select run_id from runs.child_runs where parent_run_id = run.id) as child
    from runs.runs as run
    where id = ${runId}
  `);

/** The files on disk of the old rows. */
const fileOf = () =>
  database.oneFirst(sql.type(z.object({ file: z.number() }))`
    select pg_relation_filenode(
      coalesce(to_regclass('runs.runs_first'), 'runs.runs'::regclass)
    )::int8 as file
  `);

describe("the migration to partitions", () => {
  it("keeps every run, result and child, without rewriting a table", async () => {
    expect(await fileOf()).toBe(fileBefore);
    expect(await readStored(parent.id)).toEqual({
      id: parent.id,
      part: "runs.runs_first",
      results: 1,
      child: child.id,
    });
    expect(await readStored(child.id)).toMatchObject({ results: 1, child: null });
  });

  it("leaves room for what is accepted from now on, and a unique child for each attempt", async () => {
    const run = { id: newId("run_") };
    await storeRun(run);
    expect(await readStored(run.id)).toMatchObject({ results: 1 });
    await expect(storeRun(run)).rejects.toThrow();
    const note = (runId: string) =>
      database.query(sql.type(nothing)`
        insert into runs.child_runs (parent_run_id, parent_step, run_id)
        values (${run.id}, 'a:1', ${runId})
      `);
    await note(newId("run_"));
    await expect(note(newId("run_"))).rejects.toThrow();
  });
});
