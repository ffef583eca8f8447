import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Database } from "@workflow/db";
import { constraintOf, databaseErrorToAppError, openDatabase, sql } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { TestDatabase } from "@workflow/testkit";
import { createTestDatabase, freePort, waitFor } from "@workflow/testkit";
import { z } from "zod";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    applicationName: "database-test",
    maxConnections: 4,
    statementTimeoutMs: 1_000,
  });
  await database.query(sql.unsafe`
    create table item (
      id integer constraint item_pkey primary key,
      price integer constraint item_price_check check (price > 0),
      item_id integer constraint item_item_id_fkey references item,
      data jsonb
    )`);
});

afterAll(async () => {
  await database.end();
  await testDatabase.close();
});

const anyRow = z.record(z.string(), z.unknown());

function reasonOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "no error",
    (error: unknown) => databaseErrorToAppError(error).reason,
  );
}

function backendPid(queryable: Pick<Database, "oneFirst">): Promise<number> {
  return queryable.oneFirst(
    sql.type(z.object({ pid: z.number() }))`select pg_backend_pid() as pid`,
  );
}

describe("a transaction that is left open and silent", () => {
  it("is ended by the server, so that others get at what it has locked", async () => {
    const frozen = await openDatabase({
      connectionUri: testDatabase.connectionUri,
      applicationName: "frozen",
      idleInTransactionTimeoutMs: 200,
      onError: () => {},
    });
    try {
      await database.query(sql.unsafe`insert into item (id, price) values (900, 1)`);
      const locked = Promise.withResolvers<void>();
      const written = Promise.withResolvers<void>();
      const silent = frozen.transaction(async (transaction) => {
        await transaction.query(sql.unsafe`update item set price = 2 where id = 900`);
        locked.resolve();
        await written.promise;
        await transaction.query(sql.unsafe`select 1`);
      });
      const outcome = reasonOf(silent);
      await locked.promise;
      // Waits for the lock until the other session is gone.
      await database.query(sql.unsafe`update item set price = 3 where id = 900`);
      written.resolve();
      expect(await outcome).not.toBe("no error");
      const price = z.object({ price: z.number() });
      const row = await database.one(sql.type(price)`select price from item where id = 900`);
      expect(row.price).toBe(3);
    } finally {
      await frozen.end();
    }
  });
});

describe("a query's result", () => {
  it("has numbers for int8, dates for timestamptz and texts for numeric and date", async () => {
    const row = await database.one(sql.type(anyRow)`
      select 9007199254740991::int8 as big, array[1, 2]::int8[] as bigs, 1.50::numeric as exact,
             '2026-02-03'::date as day, '2026-02-03T04:05:06.789Z'::timestamptz as moment,
             '{"a": [1]}'::jsonb as document, '{"a":  1}'::json::text as raw`);
    expect(row).toEqual({
      big: Number.MAX_SAFE_INTEGER,
      bigs: [1, 2],
      exact: "1.50",
      day: "2026-02-03",
      moment: new Date("2026-02-03T04:05:06.789Z"),
      document: { a: [1] },
      raw: '{"a":  1}',
    });
  });

  it("is refused rather than rounded when an int8 is beyond what a number holds", async () => {
    await expect(
      database.one(sql.type(anyRow)`select 9007199254740993::int8 as big`),
    ).rejects.toThrow("An int8 value is beyond 2^53.");
  });

  it("is what the schema makes of it", async () => {
    const schema = z.object({ id: z.number().transform((id) => `item ${id}`) });
    await expect(database.oneFirst(sql.type(schema)`select 7 as id`)).resolves.toBe("item 7");
  });

  it("that does not match its schema fails with the columns and without the values", async () => {
    const schema = z.object({ id: z.string(), data: z.object({ secret: z.number() }) });
    const failure = database.one(
      sql.type(schema)`select 7 as id, '{"secret": "hush"}'::jsonb as data`,
    );
    await expect(failure).rejects.toThrow(/at id, data\.secret \(select 7 as id/);
    await expect(failure).rejects.not.toThrow("hush:");
    await expect(reasonOf(failure)).resolves.toBe("INTERNAL_ERROR");
  });

  it("is the same from a prepared statement", async () => {
    const double = (number: number) =>
      database.oneFirst(
        sql.prepared("double", z.object({ twice: z.number() }))`select ${number}::int * 2 as twice`,
      );
    await expect(Promise.all([1, 2, 3, 4, 5].map(double))).resolves.toEqual([2, 4, 6, 8, 10]);
  });
});

describe("databaseErrorToAppError", () => {
  it("names the violated constraint for the store to map", async () => {
    await database.query(sql.unsafe`insert into item (id) values (1)`);
    const violations = [
      database.query(sql.unsafe`insert into item (id) values (1)`),
      database.query(sql.unsafe`insert into item (id, price) values (2, -1)`),
      database.query(sql.unsafe`insert into item (id, item_id) values (2, 99)`),
    ];
    const constraints = violations.map((query) => query.then(() => null, constraintOf));
    await expect(Promise.all(constraints)).resolves.toEqual([
      "item_pkey",
      "item_price_check",
      "item_item_id_fkey",
    ]);
    expect(constraintOf(new Error("another"))).toBeNull();
  });

  it("takes text that Postgres cannot store for the caller's fault", async () => {
    const nul = "a\u0000b";
    const lone = JSON.stringify({ a: "\ud800" });
    await expect(
      Promise.all([
        reasonOf(database.query(sql.unsafe`select ${nul}::text`)),
        reasonOf(database.query(sql.unsafe`select ${JSON.stringify({ a: nul })}::jsonb`)),
        reasonOf(database.query(sql.unsafe`select ${lone}::jsonb`)),
        reasonOf(database.query(sql.unsafe`select ${"not a uuid"}::text::uuid`)),
      ]),
    ).resolves.toEqual(["BAD_REQUEST", "BAD_REQUEST", "BAD_REQUEST", "BAD_REQUEST"]);
  });

  it("asks to try again later after a statement timeout", async () => {
    await database
      .query(sql.unsafe`select pg_sleep(30)`)
      .then(() => expect("it").toBe("not reached"))
      .catch((error: unknown) => {
        expect(databaseErrorToAppError(error)).toMatchObject({
          reason: "UNAVAILABLE",
          message: "The service is temporarily unavailable.",
          retryAfterMs: 1_000,
          internal: expect.stringContaining("57014"),
        });
      });
  });

  it("keeps what is not foreseen internal, with its cause", async () => {
    const error = await database
      .query(sql.unsafe`select nonsense`)
      .catch((caught: unknown) => caught);
    expect(databaseErrorToAppError(error)).toMatchObject({
      reason: "INTERNAL_ERROR",
      message: "An internal error occurred.",
      internal: expect.stringContaining("42703"),
      cause: error,
    });
  });

  it("hands on an AppError as it is", () => {
    const error = new AppError("NOT_FOUND", "No such thing.");
    expect(databaseErrorToAppError(error)).toBe(error);
  });
});

describe("a connection", () => {
  it("is kept after an error that says nothing about it", async () => {
    const pool = await openDatabase({
      connectionUri: testDatabase.connectionUri,
      applicationName: "kept",
      maxConnections: 1,
    });
    const pid = await backendPid(pool);
    await reasonOf(pool.query(sql.unsafe`insert into item (id, price) values (3, -1)`));
    await reasonOf(pool.one(sql.unsafe`select where false`));
    const refused = pool.transaction(async (transaction) => {
      await transaction.query(sql.unsafe`insert into item (id) values (4)`);
      throw new AppError("CONFLICT", "Not now.");
    });
    await expect(refused).rejects.toMatchObject({ reason: "CONFLICT" });
    await expect(pool.exists(sql.unsafe`select from item where id = 4`)).resolves.toBe(false);
    await expect(backendPid(pool)).resolves.toBe(pid);
    await pool.end();
  });

  it("is the one used last, so that few are in use while there is little to do", async () => {
    const pool = await openDatabase({
      connectionUri: testDatabase.connectionUri,
      applicationName: "few",
      maxConnections: 4,
    });
    const sleep = (): Promise<unknown> => pool.query(sql.unsafe`select pg_sleep(0.05)`);
    await Promise.all([sleep(), sleep(), sleep(), sleep()]);
    expect(pool.state()).toMatchObject({ acquiredConnections: 0, idleConnections: 4 });
    const pids = new Set<number>();
    for (let query = 0; query < 10; query += 1) pids.add(await backendPid(pool));
    expect(pids.size).toBe(1);
    await pool.end();
  });

  it("runs a transaction again that lost a conflict", async () => {
    let runs = 0;
    const result = await database.transaction(async (transaction) => {
      runs += 1;
      if (runs < 3) {
        await transaction.query(
          sql.unsafe`do $$ begin raise exception 'lost' using errcode = '40001'; end $$`,
        );
      }
      return runs;
    });
    expect(result).toBe(3);
  });
});

describe("while Postgres is away", () => {
  it("queries fail as UNAVAILABLE, and succeed again when it is back", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "db-test-"));
    const errors: Error[] = [];
    let server = await startLocalPostgres({ dataDir, durable: false });
    const pool = await openDatabase({
      connectionUri: server.connectionUri,
      applicationName: "away",
      maxConnections: 3,
      onError: (error) => errors.push(error),
    });
    const count = (): Promise<unknown> => pool.oneFirst(sql.unsafe`select 1 as one`);
    const sleep = (): Promise<unknown> => pool.query(sql.unsafe`select pg_sleep(60)`);
    await Promise.all([count(), count()]);
    // Two queries and a transaction are under way, more wait for a connection, when it goes.
    const caught = [
      reasonOf(sleep()),
      reasonOf(sleep()),
      reasonOf(
        pool.transaction((transaction) => transaction.query(sql.unsafe`select pg_sleep(60)`)),
      ),
      reasonOf(count()),
      reasonOf(count()),
    ];
    await waitFor(() => pool.state().acquiredConnections === 3);
    await server.stop();
    await expect(Promise.all(caught)).resolves.toEqual(caught.map(() => "UNAVAILABLE"));
    await expect(Promise.all([1, 2, 3, 4, 5].map(() => reasonOf(count())))).resolves.toEqual(
      Array.from({ length: 5 }, () => "UNAVAILABLE"),
    );
    server = await startLocalPostgres({ dataDir, durable: false });
    await waitFor(count);
    await expect(Promise.all([count(), count(), count(), count()])).resolves.toEqual([1, 1, 1, 1]);
    await pool.end();
    await server.stop();
    await rm(dataDir, { recursive: true });
  });

  it("opening a database fails as UNAVAILABLE", async () => {
    const connectionUri = `postgresql://postgres:secret@127.0.0.1:${await freePort()}/postgres`;
    const opening = openDatabase({ connectionUri, applicationName: "nobody" });
    await expect(opening).rejects.toMatchObject({ reason: "UNAVAILABLE", retryAfterMs: 1_000 });
  });

  it("opening a database fails as UNAVAILABLE when the server takes the connection and is silent", async () => {
    // Reads, so that it notices when the caller hangs up.
    const silent = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = z.object({ port: z.number() }).parse(silent.address());
    const connectionUri = `postgresql://postgres:secret@127.0.0.1:${port}/postgres`;
    const opening = openDatabase({ connectionUri, applicationName: "silence" });
    await expect(opening).rejects.toMatchObject({ reason: "UNAVAILABLE", retryAfterMs: 1_000 });
    silent.close();
  });
});
