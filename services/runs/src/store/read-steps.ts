import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});
const attemptSchema = z.object({
  attempt: z.number(),
  startedAt: z.string(),
  error: errorSchema,
});
const stepRow = z.object({
  stepId: z.string(),
  path: z.string(),
  seq: z.number(),
  type: z.string(),
  status: z.enum(["success", "error", "skipped"]),
  startedAt: z.date(),
  completedAt: z.date(),
  input: z.string().nullable(),
  output: z.string().nullable(),
  error: errorSchema.nullable(),
  attempt: z.number(),
  previousAttempts: z.array(attemptSchema).nullable(),
  reused: z.boolean(),
  inputBytes: z.number(),
  outputBytes: z.number(),
  noteBytes: z.number(),
  documentsFit: z.boolean(),
  notesFit: z.boolean(),
});

const sizesRow = z.object({
  paths: z.array(z.string()),
  /** Numbers in the order in which the steps began. */
  numbers: z.array(z.number()),
  /** Bytes of documents and notes together. */
  bytes: z.array(z.number()),
});

/**
 * A step result; documents are JSON text. They are left out unless `documentsFit`. The notes, which are
 * its error and earlier attempts, are shortened unless `notesFit`.
 */
export type StepRow = z.infer<typeof stepRow>;

/**
 * The most bytes of several step results. The first result that does not fit is left out with all that
 * follow; the database neither fetches nor builds them (D56).
 */
export interface StepBounds {
  /** Bytes of inputs and outputs. */
  documentsMax: number;
  /** Bytes of errors and earlier attempts. */
  notesMax: number;
}

/** Selects the next step results of a run, in the order in which the steps began. */
export interface StepPage {
  /** The number of the last step before the page; -1 for the first page. */
  after: number;
  limit: number;
}

/** Characters that are kept of an error message that does not fit. */
const SHORT_MESSAGE_CHARS = 200;

/** A page of the step results of a run, in the order in which the steps began. */
export async function listSteps(
  queryable: Queryable,
  runId: string,
  { after, limit }: StepPage,
  bounds: StepBounds,
): Promise<readonly StepRow[]> {
  const chosen = sql.fragment`
    select path, seq as position from runs.step_results
    where run_id = ${runId} and seq > ${after}
    order by seq
    limit ${limit}
  `;
  return listChosen(queryable, runId, { shape: "page", chosen }, bounds);
}

/**
 * The step results of a run in the order in which the steps began, if there are at most `limit`; else any
 * of them. Unlike a page, this does not read all results of a long run.
 */
export async function listFewSteps(
  queryable: Queryable,
  runId: string,
  limit: number,
  bounds: StepBounds,
): Promise<readonly StepRow[]> {
  const chosen = sql.fragment`
    select path, seq as position from runs.step_results where run_id = ${runId} limit ${limit}
  `;
  return listChosen(queryable, runId, { shape: "few", chosen }, bounds);
}

/** Some step results of a run in the order of the paths. Those that do not exist are left out. */
export async function listStepsAt(
  queryable: Queryable,
  runId: string,
  paths: readonly string[],
  bounds: StepBounds,
): Promise<readonly StepRow[]> {
  const chosen = sql.fragment`
    select path, position
    from unnest(${sql.array([...paths], "text")}) with ordinality as named (path, position)
  `;
  return listChosen(queryable, runId, { shape: "at", chosen }, bounds);
}

/** The sizes of the next step results of a run. */
export type StepSizes = z.infer<typeof sizesRow>;

/**
 * The sizes of a page of step results, one item a result in each of the lists. Sizes that old rows lack
 * are computed here, once for all pieces. The CTE is materialized: else Postgres sorts the rows with
 * their documents.
 */
export async function listStepSizes(
  queryable: Queryable,
  runId: string,
  { after, limit }: StepPage,
): Promise<StepSizes> {
  return queryable.one(sql.prepared("step_sizes", sizesRow)`
    with sized as materialized (
      select path, seq,
        coalesce(input_bytes, octet_length(input::text), 0)
          + coalesce(output_bytes, octet_length(output::text), 0)
          + coalesce(octet_length(error::text), 0)
          + coalesce(octet_length(previous_attempts::text), 0) as bytes
      from runs.step_results
      where run_id = ${runId} and seq > ${after}
    )
    select coalesce(json_agg(path order by seq), '[]') as paths,
      coalesce(json_agg(seq order by seq), '[]') as numbers,
      coalesce(json_agg(bytes order by seq), '[]') as bytes
    from (select path, seq, bytes from sized order by seq limit ${limit}) as page
  `);
}

/** One step result of a company's run; null when there is none. */
export async function findStep(
  queryable: Queryable,
  { companyId, runId, path }: { companyId: string; runId: string; path: string },
  bounds: StepBounds,
): Promise<StepRow | null> {
  const chosen = sql.fragment`
    select ${path}::text as path, 1 as position from runs.runs
    where id = ${runId} and company_id = ${companyId}
  `;
  const [row] = await listChosen(queryable, runId, { shape: "find", chosen }, bounds);
  return row ?? null;
}

/** Only the sizes of a result are read before it is known to fit. */
async function listChosen(
  queryable: Queryable,
  runId: string,
  { shape, chosen }: { shape: "page" | "few" | "at" | "find"; chosen: SqlFragment },
  { documentsMax, notesMax }: StepBounds,
): Promise<readonly StepRow[]> {
  return queryable.any(sql.prepared(`steps_${shape}`, stepRow)`
    with chosen as (${chosen}), sized as (
      select chosen.position, result.step_id, result.path, result.seq, result.type, result.status,
        result.started_at, result.completed_at, result.input, result.output, result.error,
        result.attempt, result.previous_attempts, result.reused, size.input_bytes,
        size.output_bytes, size.note_bytes,
        size.input_bytes + size.output_bytes = 0
          or sum(size.input_bytes + size.output_bytes) over in_order <= ${documentsMax}::bigint
          as documents_fit,
        size.note_bytes = 0
          or sum(size.note_bytes) over in_order <= ${notesMax}::bigint as notes_fit
      from chosen
      join runs.step_results as result on result.run_id = ${runId} and result.path = chosen.path
      cross join lateral (
        select coalesce(result.input_bytes, octet_length(result.input::text), 0) as input_bytes,
          coalesce(result.output_bytes, octet_length(result.output::text), 0) as output_bytes,
          coalesce(octet_length(result.error::text), 0)
            + coalesce(octet_length(result.previous_attempts::text), 0) as note_bytes
      ) as size
      window in_order as (order by chosen.position rows unbounded preceding)
    )
    select step_id as "stepId", path, seq, type, status, started_at as "startedAt",
      completed_at as "completedAt",
      case when documents_fit then input::text end as input,
      case when documents_fit then output::text end as output,
      case
        when notes_fit or error is null then error
        else json_build_object(
          'code', error ->> 'code', 'message', left(error ->> 'message', ${SHORT_MESSAGE_CHARS})
        )
      end as error,
      attempt, case when notes_fit then previous_attempts end as "previousAttempts", reused,
      input_bytes as "inputBytes", output_bytes as "outputBytes", note_bytes as "noteBytes",
      documents_fit as "documentsFit", notes_fit as "notesFit"
    from sized
    order by position
  `);
}
