import { readFile } from "node:fs/promises";
import type { Database } from "@workflow/db";
import { openDatabase, sql } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import { Client } from "pg";
import { z } from "zod";

export interface OutboxDatabase {
  database: Database;
  connectionUri: string;
  /** A new schema with an outbox as the README describes it. */
  createSchema(): Promise<string>;
  close(): Promise<void>;
}

export async function createOutboxDatabase(): Promise<OutboxDatabase> {
  const testDatabase = await createTestDatabase();
  const { connectionUri } = testDatabase;
  const database = await openDatabase({ connectionUri, applicationName: "events-test" });
  const ddl = await documentedTable();
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

async function documentedTable(): Promise<string> {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const ddl = /```sql\n([^`]+)```/.exec(readme)?.[1];
  if (ddl === undefined) throw new Error("The README documents no table.");
  return ddl;
}
