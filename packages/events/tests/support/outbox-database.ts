import { readFile } from "node:fs/promises";
import type { Database } from "@workflow/db";
import { openDatabase, sql } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import { Client } from "pg";
import { z } from "zod";

export interface OutboxDatabase {
  database: Database;
  connectionUri: string;
  /** A new schema with an outbox and dead letters as the README describes them. */
  createSchema(): Promise<string>;
  close(): Promise<void>;
}

export async function createOutboxDatabase(): Promise<OutboxDatabase> {
  const testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  const database = await openDatabase({ connectionUri, applicationName: "events-test" });
  const ddl = await documentedTables();
  let count = 0;
  return {
    database,
    connectionUri,
    async createSchema() {
      const schema = `outbox_test_${++count}`;
      const client = new Client({ connectionString: connectionUri });
      await client.connect();
      await client.query(`create schema ${schema}; set search_path to ${schema}; ${ddl}`);
      await client.end();
      return schema;
    },
    async close() {
      await database.end();
      await testDatabase.close();
    },
  };
}

const outboxRow = z.object({ seq: z.number(), id: z.string(), state: z.string() });

const countRow = z.object({ count: z.number() });

/** How many events are dead letters, or have failures that are counted. */
export async function countFailing(database: Database, schema: string): Promise<number> {
  const { count } = await database.one(sql.type(countRow)`
    select count(*)::integer as count from ${sql.identifier([schema, "dead_letters"])}
  `);
  return count;
}

/** The rows in order, each `unpublished`, `published` or `set aside`. */
export async function readOutbox(
  database: Database,
  schema: string,
): Promise<readonly z.output<typeof outboxRow>[]> {
  return database.any(sql.type(outboxRow)`
    select seq, id, case
      when published_at is null then 'unpublished'
      when published_at = 'infinity' then 'set aside'
      else 'published'
    end as state
    from ${sql.identifier([schema, "outbox"])}
    order by seq
  `);
}

/** Ends the sessions that hold a transaction open, as if their process had died. */
export async function killIdleTransactions(database: Database): Promise<number> {
  const result = await database.query(sql.type(z.object({}))`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'
  `);
  return result.rowCount;
}

async function documentedTables(): Promise<string> {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const tables = [...readme.matchAll(/```sql\n([^`]+)```/g)].map(([, ddl]) => ddl);
  if (tables.length !== 2) throw new Error("The README documents an outbox and dead letters.");
  return tables.join("");
}
