import { readdirSync, readFileSync } from "node:fs";
import type { Client } from "pg";
import { z } from "zod";
import { cpuTimeMs } from "./cpu-time.ts";

/** Storage and processor time so far. */
export interface Meter {
  /**
   * Bytes of each table with indexes and out-of-line values; the partitions of a table count together.
   */
  tables: ReadonlyMap<string, number>;
  /** Bytes of the write-ahead log since the cluster began. */
  walBytes: number;
  /** Processor time of the process with all services, in milliseconds. */
  nodeMs: number;
  /** Processor time of Postgres and its backends, with those that have ended. */
  postgresMs: number;
}

const MS_PER_TICK = 10;
const sizes = z.array(z.object({ name: z.string(), bytes: z.coerce.number() }));
const server = z.object({ wal: z.coerce.number(), pid: z.number() });

/** @param nodePid the process with all services */
export async function readMeter(client: Client, nodePid: number): Promise<Meter> {
  const tables = await client.query(`
    select root.relnamespace::regnamespace || '.' || root.relname as name,
      sum(pg_total_relation_size(part.oid)) as bytes
    from pg_class as part
    join pg_class as root on root.oid = coalesce(pg_partition_root(part.oid), part.oid)
    where part.relkind = 'r' and root.relnamespace::regnamespace::text not in
      ('pg_catalog', 'information_schema', 'pg_toast')
    group by 1
  `);
  const state = await client.query(`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal, pg_backend_pid() as pid
  `);
  const { wal, pid } = server.parse(state.rows[0]);
  return {
    tables: new Map(sizes.parse(tables.rows).map(({ name, bytes }) => [name, bytes])),
    walBytes: wal,
    nodeMs: cpuTimeMs(nodePid),
    postgresMs: treeTimeMs(parentOf(pid)),
  };
}

/** The time of a postmaster, its living children, and its children that have ended. */
function treeTimeMs(postmaster: number): number {
  // The 12th to 15th field: user and system time of the process, and of children that have ended.
  const spent = fieldsOf(postmaster).slice(11, 15);
  const own = spent.reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === postmaster);
  return children.reduce((sum, pid) => sum + cpuTimeMs(pid), own);
}

function parentOf(pid: number): number {
  return Number(fieldsOf(pid)[1]);
}

/**
 * The fields of the kernel behind the name, which may hold anything: state, parent, …; none for a process that has
 * ended.
 */
function fieldsOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
