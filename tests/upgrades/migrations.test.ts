import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { readBaseline } from "./support/baseline.ts";
import { findBreakingStatements } from "./support/breaking-statements.ts";

/*
 * Migrations run before the code that needs them, so the code of the release before runs on their schema
 * (docs/ops/upgrades.md).
 */

const SERVICES = join(import.meta.dirname, "../../services");

it("no migration after the baseline breaks code of the release before without a reason", async () => {
  const { migrations } = await readBaseline();
  const problems: string[] = [];
  for (const [service, newest] of Object.entries(migrations)) {
    const folder = join(SERVICES, service, "migrations");
    const files = (await readdir(folder)).filter((file) => file.endsWith(".sql"));
    expect(files.map((file) => Number(file.slice(0, 4)))).toContain(newest);
    for (const file of files.filter((each) => Number(each.slice(0, 4)) > newest)) {
      const found = findBreakingStatements(await readFile(join(folder, file), "utf8"));
      problems.push(...found.map((what) => `${service}/${file} ${what}`));
    }
  }
  expect(problems).toEqual([]);
});

describe("a migration that may break running code is found", () => {
  it.each([
    "drop table runs.tasks",
    "alter table runs.tasks drop column pool",
    "alter table runs.tasks rename column pool to lane",
    "ALTER TABLE runs.tasks ALTER COLUMN fence TYPE integer",
    "alter table runs.tasks alter fence set data type integer",
    "alter table runs.tasks alter column company_id set not null",
    "alter table runs.tasks add column lane text not null",
    "alter table runs.tasks add column a text default 'x', add column b text not null",
    "alter table runs.tasks add constraint tasks_lane check (lane <> '')",
    "create unique index tasks_lane on runs.tasks (lane)",
    "drop function runs.f()",
  ])("%s", (statement) => {
    expect(findBreakingStatements(`${statement};`)).not.toEqual([]);
    const reason = "-- safe beside old code: the release before has not used it any more.";
    expect(findBreakingStatements(`${reason}\n${statement};`)).toEqual([]);
    expect(findBreakingStatements(`-- safe beside old code:\n${statement};`)).not.toEqual([]);
  });
});

describe("a migration that leaves running code alone is not", () => {
  it.each([
    "alter table runs.tasks add column pool text not null default 'default'",
    "alter table runs.tasks add column lane text",
    "create table runs.pools (id uuid not null, constraint pools_key unique (id))",
    "create table runs.pools (id uuid not null); create unique index pools_id on runs.pools (id)",
    "create index concurrently tasks_pool on runs.tasks (pool)",
    "drop index runs.tasks_due",
    "-- drop table runs.tasks\nalter table runs.tasks alter column fence set default 0",
  ])("%s", (statement) => {
    expect(findBreakingStatements(`${statement};`)).toEqual([]);
  });
});
