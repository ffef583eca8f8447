import type { Database } from "@workflow/db";
import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { GetRunRequest, ReadRunResponse } from "@workflow/proto/runs/v1/runs";
import { rpcServerStream } from "@workflow/rpc";
import type { ServerStreamMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { isTerminal } from "../domain/run-status.ts";
import { READING_BOUNDS, ReadingBudget } from "../operations/reading-budget.ts";
import { findBoundedRun, findRun } from "../store/read-runs.ts";
import type { BoundedRunRow, RunRow } from "../store/read-runs.ts";
import { listFewSteps, listStepsAt, listStepSizes } from "../store/read-steps.ts";
import type { StepBounds, StepRow } from "../store/read-steps.ts";
import type { TaskRuntime } from "../task-runtime/runtime.ts";
import { toRunMessage, toStepMessage } from "./run-message.ts";

/** A piece of a run: first the run, then its step results in the order in which the steps began. */
export type RunPiece = { kind: "run"; run: RunRow } | { kind: "steps"; steps: readonly StepRow[] };

/** The dependencies of reading. */
type ReadingContext = Pick<ServiceContext, "database" | "runtime" | "readings">;

/** Documents below this size are read at once, however many callers do so. */
export const SMALL_BYTES = 256 * 1024;
const PIECE_BYTES = 1024 * 1024;
/** Up to so many results are read at once, too. */
const SMALL_STEPS = 500;
/**
 * Step results of one piece. Parsing so many takes some 10 ms, during which the process does nothing
 * else.
 */
const PIECE_STEPS = 1_000;
/**
 * Results whose sizes are read together. Each time the database goes through all of the run's results.
 */
const SIZES_MAX = 25_000;

/** Returns one run with its step results piece by piece. */
export function readRun(
  context: ServiceContext,
): ServerStreamMethod<GetRunRequest, ReadRunResponse> {
  return rpcServerStream({
    scopes: "runs:read",
    async *handler({ runId }, { identity, signal }) {
      let isThere = false;
      for await (const piece of readPieces(context, identity.companyId, runId, signal)) {
        isThere = true;
        if (piece.kind === "run") yield { part: { $case: "run", value: toRunMessage(piece.run) } };
        else {
          const results = piece.steps.map(toStepMessage);
          yield { part: { $case: "steps", value: { results } } };
        }
      }
      if (!isThere) throw runNotFound();
    },
  });
}

/** The one error for a run that does not exist, is another company's, or has no valid id (D1). */
export function runNotFound(): AppError {
  return new AppError("NOT_FOUND", "Run not found");
}

/**
 * Reads a run of a company, with as much of its step results as one answer may hold (D56). A run that
 * does not exist has no piece. A large run waits for its turn, and is read piece by piece as fast as the
 * reader takes the pieces. A reader that stops taking them keeps its turn until it goes away.
 *
 * @throws AppError RATE_LIMITED or UNAVAILABLE when the turn does not come
 */
export async function* readPieces(
  context: ReadingContext,
  companyId: string,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<RunPiece, void, undefined> {
  const { database, readings } = context;
  // The run is read first: its end must not be older than the step results.
  const bounded = isId("run_", runId)
    ? await findBoundedRun(database, companyId, runId, SMALL_BYTES)
    : null;
  if (bounded === null) return;
  const small = await readSmallRun(context, bounded);
  if (small !== null) {
    yield* small;
    return;
  }
  const leave = await readings.take(companyId, bounded.bytes + READING_BOUNDS.documentsMax, signal);
  try {
    const run = await findRun(database, companyId, runId);
    if (run === null) return;
    yield { kind: "run", run: await withRuntimeStatus(run, context.runtime) };
    for await (const steps of oneAhead(readSteps(database, runId))) yield { kind: "steps", steps };
  } finally {
    leave();
  }
}

/** A run that is held in memory, and the function that releases it. */
export interface HeldRun {
  run: RunRow;
  leave: () => void;
}

/**
 * Reads a run of a company without its step results. A run with large documents waits for its turn.
 *
 * @returns null when there is none
 * @throws AppError RATE_LIMITED or UNAVAILABLE when the turn does not come
 */
export async function holdRun(
  { database, readings, runtime }: ReadingContext,
  companyId: string,
  runId: string,
  signal: AbortSignal,
): Promise<HeldRun | null> {
  const bounded = await findBoundedRun(database, companyId, runId, SMALL_BYTES);
  if (bounded === null) return null;
  const { input, bytes, ...rest } = bounded;
  if (input !== null) {
    return { run: await withRuntimeStatus({ ...rest, input }, runtime), leave: () => {} };
  }
  const leave = await readings.take(companyId, bytes, signal);
  try {
    const run = await findRun(database, companyId, runId);
    if (run !== null) return { run: await withRuntimeStatus(run, runtime), leave };
  } catch (error) {
    leave();
    throw error;
  }
  leave();
  return null;
}

/** A run that fits into one piece; null when it does not. */
async function readSmallRun(
  { database, runtime }: ReadingContext,
  { input, bytes: _bytes, ...run }: BoundedRunRow,
): Promise<RunPiece[] | null> {
  if (input === null) return null;
  const bounds = { documentsMax: SMALL_BYTES, notesMax: SMALL_BYTES };
  const steps = await listFewSteps(database, run.id, SMALL_STEPS + 1, bounds);
  const isWhole = steps.every(({ documentsFit, notesFit }) => documentsFit && notesFit);
  if (!isWhole || steps.length > SMALL_STEPS) return null;
  return [
    { kind: "run", run: await withRuntimeStatus({ ...run, input }, runtime) },
    { kind: "steps", steps },
  ];
}

async function* readSteps(
  database: Database,
  runId: string,
): AsyncGenerator<readonly StepRow[], void, undefined> {
  const budget = new ReadingBudget(PIECE_BYTES);
  for (let after = -1; ;) {
    const page = { after, limit: SIZES_MAX };
    const { paths, numbers, bytes } = await listStepSizes(database, runId, page);
    for (let start = 0; start < paths.length;) {
      const end = endOfPiece(bytes, start, budget.left);
      const { left } = budget;
      const steps = await listStepsAt(database, runId, paths.slice(start, end), left);
      yield budget.charge(steps, left);
      start = end;
    }
    const last = numbers.at(-1);
    if (last === undefined || numbers.length < SIZES_MAX) return;
    after = last;
  }
}

/**
 * Makes the next item while one is taken, so that neither the database nor the reader waits for the
 * other.
 */
async function* oneAhead<Item>(
  items: AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  let next = items.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return;
      next = items.next();
      // The failure reaches the reader with the next item. A reader that has gone away need not learn of
      // it.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await items.return();
  }
}

/** The end of the piece that begins at `start`. The piece has one result, or several small ones. */
function endOfPiece(bytes: readonly number[], start: number, left: StepBounds): number {
  let end = start;
  let sum = 0;
  const most = left.documentsMax + left.notesMax;
  while (end < bytes.length && end - start < PIECE_STEPS) {
    sum += Math.min(bytes[end] ?? 0, most);
    if (end > start && sum > PIECE_BYTES) break;
    end += 1;
  }
  return end;
}

/**
 * The run's status with the task runtime's knowledge. A worker writes that a run has begun together with
 * its first result. Until then only the task runtime knows that the run is being executed.
 */
export async function withRuntimeStatus(run: RunRow, runtime: TaskRuntime): Promise<RunRow> {
  if (isTerminal(run.status) || run.status === "running") return run;
  const status = await runtime.findStatus(run.id);
  return status === "executing" ? { ...run, status: "running" } : run;
}
