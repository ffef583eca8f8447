import type { Queryable } from "@workflow/db";
import { sql } from "@workflow/db";
import { z } from "zod";
import type { OutboxSchema } from "./outbox.ts";

/**
 * At most about this much payload a batch beyond its first row, so that a batch of big events does not
 * fill the memory.
 */
const BATCH_BYTES = 4 * 1024 * 1024;
/**
 * How much compressed payload counts for each of its bytes. Postgres tells the size of the document only by
 * unpacking it. It packs rows of tables 5 to 1 and text that repeats itself 90 to 1: 45 MB a batch.
 */
const COMPRESSED_WEIGHT = 8;

const nothing = z.object({});
const acquiredRow = z.object({ acquired: z.boolean() });
const unpublishedRow = z.object({
  seq: z.number(),
  id: z.string(),
  type: z.string(),
  body: z.string(),
});

export type UnpublishedEvent = z.output<typeof unpublishedRow>;

/**
 * Tries to become the one that does this work (`publish <stream>`, `purge`) on this outbox until the
 * end of the transaction. A holder that hangs is thrown out by the server after `idleTimeoutMs`; one
 * that dies, at once.
 */
export async function tryLockOutbox(
  tx: Queryable,
  schema: OutboxSchema,
  work: `publish ${string}` | "purge",
  idleTimeoutMs: number,
): Promise<boolean> {
  // An outbox that has grown since it was last analyzed looks small to the planner, which would read and
  // sort all of it for each batch: of a million rows 2 s instead of 20 ms.
  const { acquired } = await tx.one(sql.prepared("outbox_lock", acquiredRow)`
    select
      pg_try_advisory_xact_lock(hashtextextended(${`outbox ${schema} ${work}`}, 0)) as acquired,
      set_config('idle_in_transaction_session_timeout', ${String(idleTimeoutMs)}, true),
      set_config('enable_bitmapscan', 'off', true),
      set_config('enable_seqscan', 'off', true)
  `);
  return acquired;
}

/** The oldest unpublished events of a stream, in order, without those in `exceptSeqs`. */
export function listUnpublished(
  tx: Queryable,
  { schema, stream }: { schema: OutboxSchema; stream: string },
  limit: number,
  exceptSeqs: readonly number[],
): Promise<readonly UnpublishedEvent[]> {
  // pg_column_size reads the length that is stored in the row; the document itself stays where it
  // is until the rows are chosen.
  return tx.any(sql.prepared(`outbox_list_${schema}`, unpublishedRow)`
    select seq, id, type, payload::text as body
    from ${sql.identifier([schema, "outbox"])}
    where stream = ${stream} and published_at is null and seq = any(array(
      select seq
      from (
        select seq, sum(size) over (order by seq) - size as preceding_bytes
        from (
          select seq, pg_column_size(payload)
            * case when pg_column_compression(payload) is null then 1 else ${COMPRESSED_WEIGHT} end
              as size
          from ${sql.identifier([schema, "outbox"])}
          where stream = ${stream} and published_at is null
            and seq <> all(${sql.array(exceptSeqs, "int8")})
          order by seq
          limit ${limit}
        ) as candidate
      ) as measured
      where preceding_bytes < ${BATCH_BYTES}
    ))
    order by seq
  `);
}

/**
 * Deletes events that are published. Their rows would serve nobody: who missed an event asks the bus, and
 * a marked row would be written, indexed and cleaned up once more.
 */
export async function deletePublished(
  tx: Queryable,
  { schema, stream }: { schema: OutboxSchema; stream: string },
  seqs: readonly number[],
): Promise<void> {
  await tx.query(sql.prepared(`outbox_delete_${schema}`, nothing)`
    delete from ${sql.identifier([schema, "outbox"])}
    where stream = ${stream} and published_at is null and seq = any(${sql.array(seqs, "int8")})
  `);
}

/** Sets events aside that the bus refuses for ever: never tried again, never purged. */
export async function setAside(
  tx: Queryable,
  { schema, stream }: { schema: OutboxSchema; stream: string },
  seqs: readonly number[],
): Promise<void> {
  await tx.query(sql.type(nothing)`
    update ${sql.identifier([schema, "outbox"])}
    set published_at = 'infinity'
    where stream = ${stream} and published_at is null and seq = any(${sql.array(seqs, "int8")})
  `);
}

/** Deletes up to `limit` events that an earlier version has marked as published; returns how many. */
export async function deleteMarked(
  tx: Queryable,
  schema: OutboxSchema,
  limit: number,
): Promise<number> {
  const result = await tx.query(sql.prepared(`outbox_purge_${schema}`, nothing)`
    delete from ${sql.identifier([schema, "outbox"])}
    where ctid = any(array(
      select ctid from ${sql.identifier([schema, "outbox"])}
      where published_at < 'infinity'
      limit ${limit}
    ))
  `);
  return result.rowCount;
}

const measuredRow = z.object({ rows: z.number(), oldestAgeSeconds: z.number() });

/** How many events of a stream wait, counted up to `limit`, and how long the first of them does. */
export function measureOutbox(
  database: Queryable,
  { schema, stream }: { schema: OutboxSchema; stream: string },
  limit: number,
): Promise<{ rows: number; oldestAgeSeconds: number }> {
  return database.one(sql.prepared(`outbox_measure_${schema}`, measuredRow)`
    select count(*)::integer as rows,
      coalesce(greatest(0, extract(epoch from now() - min(created_at))), 0)::float8
        as "oldestAgeSeconds"
    from (
      select created_at
      from ${sql.identifier([schema, "outbox"])}
      where stream = ${stream} and published_at is null
      order by seq
      limit ${limit}
    ) as waiting
  `);
}
