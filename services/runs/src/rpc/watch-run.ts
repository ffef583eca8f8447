import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { WatchRunRequest, WatchRunResponse } from "@workflow/proto/runs/v1/runs";
import { rpcServerStream } from "@workflow/rpc";
import type { ServerStreamMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { isTerminal, RUN_STATUSES } from "../domain/run-status.ts";
import type { RunStatus } from "../domain/run-status.ts";
import { WATCHED_PIECE_BYTES } from "../operations/run-watcher.ts";
import type { EndedStep, Watch, WatchedState } from "../operations/run-watcher.ts";
import { ReadingBudget } from "../operations/reading-budget.ts";
import { SeenSteps } from "../operations/seen-steps.ts";
import { hasRun } from "../store/read-runs.ts";
import type { StepRow } from "../store/read-steps.ts";
import { holdRun, runNotFound } from "./read-run.ts";
import { toRunMessage, toRunSummary, toStepMessage } from "./run-message.ts";

/** Step results that one watcher holds at a time, documents included. */
const STEPS_AT_A_TIME = 16;
const POSITION_CHARS_MAX = 8_192;

/** Streams a run until it has ended: first what is known already, then each change (D32). */
export function watchRun(
  context: ServiceContext,
): ServerStreamMethod<WatchRunRequest, WatchRunResponse> {
  const { database, watcher } = context;
  return rpcServerStream({
    scopes: "runs:read",
    async *handler({ runId, after }, { identity, signal }) {
      const { companyId } = identity;
      const position = after === undefined ? new Position() : parsePosition(after);
      const exists = isId("run_", runId) && (await hasRun(database, companyId, runId));
      if (!exists) throw runNotFound();
      const watch = watcher.watch(companyId, runId);
      try {
        const stream = { context, companyId, watch, position, signal };
        yield* tell(stream, after !== undefined);
      } finally {
        watch.release();
      }
    },
  });
}

/** One call that watches a run. */
interface WatchStream {
  context: ServiceContext;
  companyId: string;
  watch: Watch;
  position: Position;
  signal: AbortSignal;
}

async function* tell(stream: WatchStream, goesOn: boolean): AsyncGenerator<WatchRunResponse> {
  const { watch, position, signal } = stream;
  const budget = new ReadingBudget(WATCHED_PIECE_BYTES);
  let stepsRead = 0;
  let isSilent = goesOn;
  for (;;) {
    await watch.changed(signal);
    const { state } = watch;
    if (signal.aborted || state === null) return;
    const { status } = state.run;
    // Results of steps follow the status `running`, and the row was read before the steps. The end of the
    // run follows all its results.
    const known = status === "pending" ? stepsRead : state.steps.length;
    const steps = state.steps.slice(stepsRead, known).filter(({ seq }) => !position.steps.has(seq));
    stepsRead = known;
    if (status === "running" && status !== position.status) {
      isSilent = false;
      yield* runUpdate(stream, state);
    }
    for await (const row of loadSteps(stream, steps, budget)) {
      position.steps.add(row.seq);
      isSilent = false;
      yield { update: { $case: "step", value: toStepMessage(row) }, position: position.encode() };
    }
    if (status !== position.status) {
      isSilent = false;
      yield* runUpdate(stream, state);
    }
    if (isTerminal(status)) return;
    if (isSilent) yield { update: undefined, position: position.encode() };
    isSilent = false;
  }
}

/** Loads a few results at a time. One that is larger than a piece waits for its turn. */
async function* loadSteps(
  { context, companyId, watch, signal }: WatchStream,
  steps: readonly EndedStep[],
  budget: ReadingBudget,
): AsyncGenerator<StepRow> {
  for (let start = 0; start < steps.length;) {
    const some = steps.slice(start, start + STEPS_AT_A_TIME);
    const bounds = budget.nextPiece;
    const rows = await watch.load(some, bounds);
    const charged = budget.charge(rows, bounds);
    yield* charged;
    if (charged.length === rows.length) {
      start += some.length;
      continue;
    }
    const [large] = rows.slice(charged.length);
    if (large === undefined) return;
    const leave = await context.readings.take(
      companyId,
      large.inputBytes + large.outputBytes,
      signal,
    );
    try {
      const { left } = budget;
      yield* budget.charge(await watch.load([large], left), left);
    } finally {
      leave();
    }
    start += some.findIndex(({ path }) => path === large.path) + 1;
  }
}

async function* runUpdate(
  { context, companyId, position, signal }: WatchStream,
  { run }: WatchedState,
): AsyncGenerator<WatchRunResponse> {
  position.status = run.status;
  const held = isTerminal(run.status) ? await holdRun(context, companyId, run.id, signal) : null;
  try {
    const value =
      held === null ? toRunSummary(run) : { ...toRunMessage(held.run), inputJson: undefined };
    yield { update: { $case: "run", value }, position: position.encode() };
  } finally {
    held?.leave();
  }
}

/** What a watcher has received. */
class Position {
  status: RunStatus | null;
  readonly steps: SeenSteps;

  constructor(status: RunStatus | null = null, steps = new SeenSteps()) {
    this.status = status;
    this.steps = steps;
  }

  encode(): string {
    return `${this.status ?? "none"}.${this.steps.encode()}`;
  }
}

function parsePosition(text: string): Position {
  const dot = text.indexOf(".");
  const name = text.slice(0, Math.max(dot, 0));
  const status = name === "none" ? null : RUN_STATUSES.find((each) => each === name);
  const steps = text.length > POSITION_CHARS_MAX ? null : SeenSteps.parse(text.slice(dot + 1));
  if (status !== undefined && steps !== null) return new Position(status, steps);
  const message = "must be the position of an update of this run";
  throw new AppError("BAD_REQUEST", `after ${message}.`, {
    violations: [{ path: ["after"], message }],
  });
}
