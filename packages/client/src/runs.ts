import { call } from "./call.ts";
import { amount } from "./api.ts";
import type { CallOptions, Api, Idempotent } from "./api.ts";
import { WorkflowError } from "./errors.ts";
import { getRun } from "./generated/operations.gen.ts";
import type { Run, RunStart, RunWorkflowResponse } from "./generated/types.gen.ts";
import { isTerminal, watchRun } from "./run-events.ts";
import { startTimer } from "./timer.ts";

/** The answer to the start of a run. Its form depends on `mode`, on the run and on the key. */
export type StartedRun = RunWorkflowResponse["data"];

/** How long the service waits for a sync run by default. */
const SYNC_WAIT_MS = 30_000;

/**
 * Starts a run. Without an idempotency key the call makes one for all of its tries, so that they start one run. A sync
 * start waits for the answer as long as the service may take for it, whatever `timeoutMs` the client has.
 *
 * @throws ApiError WORKFLOW_NOT_ACTIVE, VALIDATION_ERROR (the input); of sync runs TRIGGER_ERROR, EXECUTION_TIMEOUT
 */
export function runWorkflow(
  api: Api,
  id: string,
  body: RunStart = {},
  options: CallOptions & Idempotent = {},
): Promise<StartedRun> {
  const waitMs = body.mode === "sync" ? (body.maxExecutionTimeMs ?? SYNC_WAIT_MS) : 0;
  return call(
    api,
    { method: "POST", path: "/workflows/{id}/run", params: { id }, body, keyed: true },
    { ...options, timeoutMs: options.timeoutMs ?? api.timeoutMs + waitMs },
  );
}

/** A run ended without completing. */
export class RunFailedError extends WorkflowError {
  override readonly name = "RunFailedError";
  /** The whole run; its `error` gives the reason. */
  readonly run: Run;

  constructor(run: Run) {
    super(run.error?.message ?? `The run ended with the status ${run.status}.`);
    this.run = run;
  }
}

/** A run did not end within the caller's time. The run continues. */
export class RunNotEndedError extends WorkflowError {
  override readonly name = "RunNotEndedError";
  readonly runId: string;

  constructor(runId: string, waitMs: number) {
    super(`The run has not ended within ${waitMs} ms.`);
    this.runId = runId;
  }
}

/** Options for waiting for a run. */
export interface WaitOptions extends CallOptions {
  /** How long to wait for the end, in milliseconds; without limit by default. */
  waitMs?: number | undefined;
}

/** The start of a run whose end is awaited. */
export type RunAndWaitBody = Omit<
  RunStart,
  "mode" | "maxExecutionTimeMs" | "onTimeout" | "onFailure"
>;

/**
 * Starts a run, waits for its end and returns the whole run. A signal that is aborted ends the waiting and not the run.
 *
 * @throws RunFailedError when the run fails, times out or is cancelled
 * @throws RunNotEndedError after `waitMs`; `waitForRun` goes on waiting
 */
export async function runAndWait(
  api: Api,
  id: string,
  body: RunAndWaitBody = {},
  options: WaitOptions & Idempotent = {},
): Promise<Run> {
  // This check comes before a run is started that nobody would wait for.
  amount("waitMs", options.waitMs);
  const started = await runWorkflow(api, id, { ...body, mode: "async" }, options);
  return waitForRun(api, started.runId, options);
}

/**
 * Waits for the end of a run and returns the whole run; people who have to approve are waited for, too.
 *
 * @throws RunFailedError, RunNotEndedError, as `runAndWait`
 */
export async function waitForRun(api: Api, id: string, options: WaitOptions = {}): Promise<Run> {
  const { waitMs: _, signal, ...others } = options;
  const waitMs = amount("waitMs", options.waitMs) ?? Infinity;
  const waiting = new AbortController();
  const abort = (): void => waiting.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) abort();
  const stopTimer = startTimer(waitMs, () => waiting.abort(new RunNotEndedError(id, waitMs)));
  try {
    await lastEvent(api, id, { ...others, signal: waiting.signal });
    const run = await getRun(api, id, { ...others, signal: waiting.signal });
    if (run.status !== "completed") throw new RunFailedError(run);
    return run;
  } finally {
    stopTimer();
    signal?.removeEventListener("abort", abort);
  }
}

async function lastEvent(api: Api, id: string, options: CallOptions): Promise<void> {
  for await (const event of watchRun(api, id, options)) {
    if (event.type === "run" && isTerminal(event.data.status)) return;
  }
}
