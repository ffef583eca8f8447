import type { Queryable } from "@workflow/db";
import { sql } from "@workflow/db";
import { z } from "zod";
import type { OutboxSchema } from "./outbox.ts";

/**
 * At most this much of stored (compressed) payload a batch beyond its first row, so that a batch
 * of big events does not fill the memory.
 */
const BATCH_STORED_BYTES = 4 * 1024 * 1024;

const acquiredRow = z.object({ acquired: z.boolean() });
const unpublishedRow = z.object({
  seq: z.number(),
  id: z.string(),
  type: z.string(),
  body: z.string(),
});
const purgedRow = z.object({ lastSeq: z.number().nullable(), done: z.boolean() });

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
  const { acquired } = await tx.one(sql.prepared("outbox_lock", acquiredRow)`
    select
      pg_try_advisory_xact_lock(hashtextextended(${`outbox ${schema} ${work}`}, 0)) as acquired,
      set_config('idle_in_transaction_session_timeout', ${String(idleTimeoutMs)}, true)
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
    where seq in (
      select seq
      from (
        select seq, sum(size) over (order by seq) - size as preceding_bytes
        from (
          select seq, pg_column_size(payload) as size
          from ${sql.identifier([schema, "outbox"])}
          where stream = ${stream} and published_at is null
            and seq <> all(${sql.array(exceptSeqs, "int8")})
          order by seq
          limit ${limit}
        ) as candidate
      ) as measured
      where preceding_bytes < ${BATCH_STORED_BYTES}
    )
    order by seq
  `);
}

/** Marks events as published. */
export async function markPublished(
  tx: Queryable,
  schema: OutboxSchema,
  seqs: readonly number[],
): Promise<void> {
  await tx.query(sql.prepared(`outbox_mark_${schema}`, z.object({}))`
    update ${sql.identifier([schema, "outbox"])}
    set published_at = now()
    where seq = any(${sql.array(seqs, "int8")})
  `);
}

/** Sets events aside that the bus refuses for ever: never tried again, never purged. */
export async function setAside(
  tx: Queryable,
  schema: OutboxSchema,
  seqs: readonly number[],
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update ${sql.identifier([schema, "outbox"])}
    set published_at = 'infinity'
    where seq = any(${sql.array(seqs, "int8")})
  `);
}

/**
 * Looks at the `limit` rows after `afterSeq` and deletes those published longer ago than
 * `retainMs`. `done` once the rows get too young for that. It pages by the primary key so that the
 * table needs no index for it.
 */
export function purgePage(
  tx: Queryable,
  schema: OutboxSchema,
  page: { afterSeq: number; limit: number; retainMs: number },
): Promise<{ lastSeq: number | null; done: boolean }> {
  return tx.one(sql.prepared(`outbox_purge_${schema}`, purgedRow)`
    with page as (
      select seq, created_at, published_at, now() - ${page.retainMs} * interval '1 ms' as horizon
      from ${sql.identifier([schema, "outbox"])}
      where seq > ${page.afterSeq}
      order by seq
      limit ${page.limit}
    ), purged as (
      delete from ${sql.identifier([schema, "outbox"])}
      where seq = any(array(select seq from page where published_at < horizon))
    )
    select
      max(seq) as "lastSeq",
      coalesce((array_agg(created_at >= horizon order by seq desc))[1], true) as done
    from page
  `);
}
