import { isId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { WatchRunRequest, WatchRunResponse } from "@workflow/proto/runs/v1/runs";
import { rpcServerStream } from "@workflow/rpc";
import type { ServerStreamMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { isTerminal, RUN_STATUSES } from "../domain/run-status.ts";
import type { RunStatus } from "../domain/run-status.ts";
import type { Watch, WatchedState } from "../operations/run-watcher.ts";
import { SeenSteps } from "../operations/seen-steps.ts";
import { findRun, hasRun } from "../store/read-runs.ts";
import { runNotFound } from "./get-run.ts";
import { toRunMessage, toRunSummary, toStepMessage } from "./run-message.ts";

/** Step results that one watcher holds at a time, documents included. */
const STEPS_AT_A_TIME = 16;
const POSITION_CHARS_MAX = 8_192;

/** Tells of a run until it has ended: what is known already, then each change. */
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
      const watch = watcher.watch(runId);
      try {
        yield* tell(context, companyId, watch, position, after !== undefined, signal);
      } finally {
        watch.release();
      }
    },
  });
}

async function* tell(
  context: ServiceContext,
  companyId: string,
  watch: Watch,
  position: Position,
  goesOn: boolean,
  signal: AbortSignal,
): AsyncGenerator<WatchRunResponse> {
  let stepsRead = 0;
  let isSilent = goesOn;
  for (;;) {
    await watch.changed(signal);
    const { state } = watch;
    if (signal.aborted || state === null) return;
    const steps = state.steps.slice(stepsRead).filter(({ seq }) => !position.steps.has(seq));
    stepsRead = state.steps.length;
    const { status } = state.run;
    // What a run does begins after it runs; what ends it comes after all that it did.
    if (status === "running" && status !== position.status) {
      isSilent = false;
      yield await runUpdate(context, companyId, state, position);
    }
    for (let start = 0; start < steps.length; start += STEPS_AT_A_TIME) {
      const some = steps.slice(start, start + STEPS_AT_A_TIME);
      const rows = new Map((await watch.load(some)).map((row) => [row.path, row]));
      for (const { seq, path } of some) {
        const row = rows.get(path);
        if (row === undefined) continue;
        position.steps.add(seq);
        isSilent = false;
        yield { update: { $case: "step", value: toStepMessage(row) }, position: position.encode() };
      }
    }
    if (status !== position.status) {
      isSilent = false;
      yield await runUpdate(context, companyId, state, position);
    }
    if (isTerminal(status)) return;
    if (isSilent) yield { update: undefined, position: position.encode() };
    isSilent = false;
  }
}

async function runUpdate(
  { database }: ServiceContext,
  companyId: string,
  { run }: WatchedState,
  position: Position,
): Promise<WatchRunResponse> {
  position.status = run.status;
  const ended = isTerminal(run.status) ? await findRun(database, companyId, run.id) : null;
  const value =
    ended === null ? toRunSummary(run) : { ...toRunMessage(ended, []), inputJson: undefined };
  return { update: { $case: "run", value }, position: position.encode() };
}

/** What a watcher has been told. */
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
