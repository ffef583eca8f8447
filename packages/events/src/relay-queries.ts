import type { Queryable } from "@workflow/db";
import { sql } from "@workflow/db";
import { z } from "zod";
import type { OutboxSchema } from "./outbox.ts";

/**
 * Most payload bytes of a batch beyond its first row, so that a batch of big events does not fill the
 * memory.
 */
const BATCH_BYTES = 4 * 1024 * 1024;
/**
 * The weight of each byte of compressed payload. Postgres learns the size of a document only by
 * unpacking it. It packs rows of tables 5 to 1 and repetitive text 90 to 1: 45 MB a batch.
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
 * Tries to lock this work (`publish <stream>`, `purge`) on this outbox until the end of the
 * transaction. The server ends a hanging holder after `idleTimeoutMs`, and a dead one at once.
 */
export async function tryLockOutbox(
  tx: Queryable,
  schema: OutboxSchema,
  work: `publish ${string}` | "purge",
  idleTimeoutMs: number,
): Promise<boolean> {
  // An outbox that has grown since it was last analyzed looks small to the planner. It would read and
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
  // pg_column_size reads the length that is stored in the row. The document itself is read only after
  // the rows are chosen.
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
 * Deletes published events. Nobody would need their rows: a consumer that missed an event asks the bus.
 * A marked row would be written, indexed and cleaned up once more.
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

/** Sets events aside that the bus refuses for ever. They are never tried again, and never purged. */
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

/** How many events of a stream wait, counted up to `limit`, and how long the first one has waited. */
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
