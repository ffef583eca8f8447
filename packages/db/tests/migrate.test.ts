import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { Database, ServiceSchema } from "@workflow/db";
import { dumpSchema, migrate, openDatabase, sql } from "@workflow/db";
import type { TestDatabase } from "@workflow/testkit";
import { createTestDatabase } from "@workflow/testkit";
import { z } from "zod";

let testDatabase: TestDatabase;
let folders: string[];
let roles: string[];

beforeAll(() => {
  folders = [];
  roles = [];
});

beforeEach(async () => {
  await testDatabase?.close();
  testDatabase = await createTestDatabase();
});

afterAll(async () => {
  await testDatabase.close();
  const other = await createTestDatabase();
  const admin = await open(other.connectionUri);
  for (const role of roles) {
    await admin.query(sql.unsafe`drop role if exists ${sql.identifier([role])}`);
  }
  await admin.end();
  await other.close();
  for (const folder of folders) await rm(folder, { recursive: true });
});

function open(connectionUri: string, role?: string): Promise<Database> {
  const actor = role === undefined ? {} : { role };
  return openDatabase({ connectionUri, applicationName: "migrate-test", ...actor });
}

/** A service that no other test file knows: roles are shared by all databases of the server. */
async function service(files: Record<string, string>): Promise<ServiceSchema> {
  const schema = `s_${randomBytes(4).toString("hex")}`;
  const directory = await mkdtemp(join(tmpdir(), "migrate-"));
  folders.push(directory);
  roles.push(`r_${schema}`);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return { schema, role: `r_${schema}`, directory };
}

function run(...services: ServiceSchema[]): Promise<string[]> {
  return migrate({ connectionUri: testDatabase.connectionUri, services }).then((applied) =>
    applied.map(({ file }) => file),
  );
}

const CREATE = "create table thing (id integer constraint thing_pkey primary key);";
const INDEX = "-- no-transaction\ncreate index concurrently thing_twice on thing ((id * 2));";

describe("migrate", () => {
  it("applies what is new in order, and nothing twice", async () => {
    const things = await service({ "0001_thing.sql": CREATE, "0002_index.sql": INDEX });
    await expect(run(things)).resolves.toEqual(["0001_thing.sql", "0002_index.sql"]);
    await expect(run(things)).resolves.toEqual([]);
    await writeFile(join(things.directory, "0003_more.sql"), "alter table thing add name text;");
    await expect(run(things)).resolves.toEqual(["0003_more.sql"]);
  });

  it("makes an index anew that a killed run has left behind", async () => {
    const things = await service({ "0001_thing.sql": CREATE, "0002_index.sql": INDEX });
    await run(things);
    // As if the run had ended between the index and its record.
    const records = sql.identifier([things.schema, "schema_migrations"]);
    const admin = await open(testDatabase.connectionUri);
    await admin.query(sql.unsafe`delete from ${records} where number = 2`);
    await admin.end();
    await expect(run(things)).resolves.toEqual(["0002_index.sql"]);
  });

  it("lets twenty run at once, of whom one applies each file", async () => {
    const things = await service({ "0001_thing.sql": CREATE, "0002_index.sql": INDEX });
    const applied = await Promise.all(Array.from({ length: 20 }, () => run(things)));
    expect(applied.flat()).toEqual(["0001_thing.sql", "0002_index.sql"]);
  });

  it("makes a role once although two databases want it at the same time", async () => {
    const things = await service({ "0001_thing.sql": CREATE });
    const others = await Promise.all(Array.from({ length: 6 }, createTestDatabase));
    await Promise.all(
      others.map(({ connectionUri }) => migrate({ connectionUri, services: [things] })),
    );
    await Promise.all(others.map((other) => other.close()));
  });

  it("undoes a file that fails, keeps those before it and names file and line", async () => {
    const things = await service({
      "0001_thing.sql": CREATE,
      "0002_broken.sql": "create table half (id integer);\nselect nonsense;",
    });
    await expect(run(things)).rejects.toThrow(/0002_broken\.sql failed: .*nonsense.*\(line 2\)/);
    await writeFile(join(things.directory, "0002_broken.sql"), "create table half (id integer);");
    await expect(run(things)).resolves.toEqual(["0002_broken.sql"]);
  });

  it("refuses a file that was changed after it had been applied", async () => {
    const things = await service({ "0001_thing.sql": CREATE });
    await run(things);
    await writeFile(join(things.directory, "0001_thing.sql"), `${CREATE} `);
    await expect(run(things)).rejects.toThrow(/0001_thing\.sql was changed/);
  });

  it("refuses files that are out of order, share a number or are misnamed", async () => {
    const late = await service({ "0002_thing.sql": CREATE });
    await run(late);
    await writeFile(join(late.directory, "0001_late.sql"), "select 1;");
    await expect(run(late)).rejects.toThrow(/0001_late\.sql is new but numbered below 2/);
    const twins = await service({ "0001_a.sql": "select 1;", "0001_b.sql": "select 1;" });
    await expect(run(twins)).rejects.toThrow(/0001_b\.sql has the number of another file/);
    const misnamed = await service({ "1_thing.sql": CREATE });
    await expect(run(misnamed)).rejects.toThrow(/1_thing\.sql is not NNNN_name\.sql/);
  });

  it("leaves a database alone that a newer release has migrated further", async () => {
    const things = await service({ "0001_thing.sql": CREATE, "0002_index.sql": INDEX });
    await run(things);
    await rm(join(things.directory, "0002_index.sql"));
    await expect(run(things)).resolves.toEqual([]);
  });

  it("works for an owner who is no superuser", async () => {
    const things = await service({ "0001_thing.sql": CREATE });
    const owner = `owner_${things.schema}`;
    const admin = await open(testDatabase.connectionUri);
    await admin.query(sql.unsafe`
      create role ${sql.identifier([owner])} login createrole password 'secret'`);
    await admin.query(sql.unsafe`
      do ${sql.literalValue(
        `begin execute format('grant create on database %I to ${owner}', current_database()); end`,
      )}`);
    const uri = new URL(testDatabase.connectionUri);
    uri.username = owner;
    uri.password = "secret";
    await migrate({ connectionUri: uri.toString(), services: [things] });
    const asService = await open(uri.toString(), things.role);
    await expect(
      asService.oneFirst(sql.type(z.object({ name: z.string() }))`select current_user as name`),
    ).resolves.toBe(things.role);
    await asService.end();
    await admin.query(sql.unsafe`drop owned by ${sql.identifier([owner])} cascade`);
    await admin.query(sql.unsafe`drop role ${sql.identifier([things.role])}`);
    await admin.query(sql.unsafe`drop role ${sql.identifier([owner])}`);
    await admin.end();
  });
});

describe("a service's role", () => {
  it("reads and writes its own rows, and can neither see another schema nor alter its own", async () => {
    const mine = await service({
      "0001_thing.sql": `create table thing (id bigint generated always as identity, name text);
        create sequence counter;
        create function greet() returns text language sql as $$ select 'hello' $$;`,
    });
    const theirs = await service({ "0001_thing.sql": CREATE });
    await run(mine, theirs);
    const database = await open(testDatabase.connectionUri, mine.role);
    const thing = sql.identifier([mine.schema, "thing"]);
    await database.query(sql.unsafe`insert into ${thing} (name) values ('a')`);
    await database.query(sql.unsafe`update ${thing} set name = 'b'`);
    await database.query(sql.unsafe`select nextval(${`${mine.schema}.counter`})`);
    await database.query(sql.unsafe`select ${sql.identifier([mine.schema, "greet"])}()`);
    await database.query(sql.unsafe`delete from ${thing}`);
    const refused = [
      sql.unsafe`select from ${sql.identifier([theirs.schema, "thing"])}`,
      sql.unsafe`drop table ${thing}`,
      sql.unsafe`truncate ${thing}`,
      sql.unsafe`create table ${sql.identifier([mine.schema, "own"])} (id integer)`,
      sql.unsafe`delete from ${sql.identifier([mine.schema, "schema_migrations"])}`,
      sql.unsafe`create table public.own (id integer)`,
    ];
    for (const query of refused) {
      await expect(database.query(query)).rejects.toMatchObject({ code: "42501" });
    }
    await database.end();
  });
});

describe("dumpSchema", () => {
  const FIRST = `
    create type colour as enum ('red', 'green');
    create table thing (
      id uuid constraint thing_pkey primary key,
      colour colour not null default 'red',
      name text collate "und-x-icu",
      price numeric(10, 2) constraint thing_price_check check (price > 0),
      twice numeric generated always as (price * 2) stored,
      at timestamptz not null default now()
    );
    create index thing_at on thing (at desc) where price is not null;`;
  const SECOND = `
    create function touch() returns trigger language plpgsql as
      $$ begin new.at := now(); return new; end $$;
    create trigger thing_touch before update on thing for each row execute function touch();
    create view cheap as select id from thing where price < 1;
    create sequence counter;`;

  it("is the same text for the same schema, whichever files and session made it", async () => {
    const things = await service({ "0001_a.sql": FIRST, "0002_b.sql": SECOND });
    await run(things);
    const database = await open(testDatabase.connectionUri);
    const dump = await dumpSchema(database, things.schema);
    await expect(dumpSchema(database, things.schema)).resolves.toBe(dump);
    await database.end();
    const other = await createTestDatabase();
    const merged = await service({ "0001_all.sql": FIRST + SECOND });
    await migrate({
      connectionUri: other.connectionUri,
      services: [{ ...merged, schema: things.schema, role: things.role }],
    });
    const asRole = await open(other.connectionUri, things.role);
    await expect(dumpSchema(asRole, things.schema)).resolves.toBe(dump);
    await asRole.end();
    await other.close();
    expect(dump.replaceAll(things.schema, "own")).toMatchSnapshot();
  });
});
