import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { z } from "zod";
import type { Harness } from "./harness.ts";

const nothing = z.object({});
const counted = z.object({ count: z.number() });

/** Holds statements that read rows of some tables, for as long as a test wants. */
export interface ReadGate {
  /** From now on each statement that reads a row of these tables waits. Call it when none does. */
  close(tableIds: readonly string[]): Promise<void>;
  /** Lets all go on. */
  open(): Promise<void>;
  /** How many statements wait. */
  waiting(): Promise<number>;
  /** How many rows statements have come to of tables that the gate was ever closed for, since then. */
  reached(): Promise<number>;
  end(): Promise<void>;
}

/** Makes the gate, which is a policy of the rows that waits for an advisory lock. */
export async function createReadGate({ database, databaseUri }: Harness): Promise<ReadGate> {
  await setUp(database);
  const keeper = await openDatabase({
    connectionUri: databaseUri,
    applicationName: "test-gate",
    maxConnections: 1,
    idleInTransactionTimeoutMs: 600_000,
  });
  let release = (): void => {};
  let kept: Promise<unknown> = Promise.resolve();
  const open = async (): Promise<void> => {
    release();
    await kept;
  };
  return {
    async close(tableIds) {
      const closed = Promise.withResolvers<void>();
      const opened = Promise.withResolvers<void>();
      release = opened.resolve;
      kept = keeper.transaction(async (transaction) => {
        await transaction.query(sql.type(nothing)`select pg_advisory_xact_lock(4711)`);
        closed.resolve();
        await opened.promise;
      });
      await Promise.race([closed.promise, kept]);
      await database.query(sql.type(nothing)`
        insert into public.gated
        select key from tables.tables where id = any(${sql.array(tableIds, "uuid")})
        on conflict do nothing
      `);
    },
    open,
    waiting: () => countWaiting(database),
    async reached() {
      const { count } = await database.one(sql.type(counted)`
        select case when is_called then last_value else 0 end::float8 as count
        from public.gate_reached
      `);
      return count;
    },
    async end() {
      await open();
      await keeper.end();
    },
  };
}

async function countWaiting(database: Database): Promise<number> {
  const { count } = await database.one(sql.type(counted)`
    select count(*)::float8 as count
    from pg_stat_activity
    where application_name = 'workflow-tables' and datname = current_database()
      and wait_event = 'advisory'
  `);
  return count;
}

async function setUp(database: Database): Promise<void> {
  for (const statement of [
    sql.type(nothing)`create table public.gated (table_key bigint primary key)`,
    sql.type(nothing)`create sequence public.gate_reached`,
    sql.type(nothing)`
      create function public.pass_gate(gated_key bigint) returns boolean
      language plpgsql volatile security definer as $$
      begin
        if exists (select from public.gated where table_key = gated_key) then
          perform nextval('public.gate_reached');
          perform pg_advisory_xact_lock_shared(4711);
        end if;
        return true;
      end $$
    `,
    sql.type(nothing)`grant execute on function public.pass_gate(bigint) to workflow_tables`,
    sql.type(nothing)`alter table tables.rows enable row level security`,
    sql.type(nothing)`
      create policy gate on tables.rows using (public.pass_gate(table_key)) with check (true)
    `,
  ]) {
    await database.query(statement);
  }
}
