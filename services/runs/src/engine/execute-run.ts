import type { JsonSchemaValidator, TemplateScope } from "@workflow/definition";
import type { SafeHttpClient } from "@workflow/http-client";
import type { Logger } from "pino";
import type { RunFacts } from "../domain/run-facts.ts";
import { storableJson } from "../domain/storable-json.ts";
import type { ExpressionPool } from "../expressions/expression-pool.ts";
import { advance } from "../interpreter/advance.ts";
import type { Outcome, StepScope } from "../interpreter/execution.ts";
import { RunJournal } from "../interpreter/run-journal.ts";
import type { Ending } from "../interpreter/run-journal.ts";
import { LeaseLostError } from "../interpreter/step-error.ts";
import type { Lease } from "../task-runtime/port.ts";
import type { Deployment } from "./deployment-cache.ts";
import type { ExecutionError, JournalEntry } from "./journal.ts";
import type { LoadedRun } from "./load-runs.ts";

/** Leases that may run out without progress before a run is given up (D30). */
const TAKEOVERS_MAX = 5;
/** D4. */
const OUTPUT_CHARS_MAX = 10 * 1024 * 1024;
const TIMER_MS_MAX = 2_147_483_647;

/** One run under one lease. */
export interface RunExecution extends LoadedRun {
  lease: Lease;
  deployment: Deployment;
  http: SafeHttpClient;
  expressions: ExpressionPool;
  write: (entry: JournalEntry) => Promise<boolean>;
  logger: Logger;
}

/**
 * Takes one run as far as it goes and writes how that ended. Never rejects: whatever goes wrong is
 * the run's failure, or, when even that cannot be written, another lease's task.
 */
export async function executeRun(execution: RunExecution): Promise<void> {
  const { lease, history, logger } = execution;
  const facts = factsOf(execution);
  const journal = new RunJournal(facts, lease, history, execution.write);
  const stop = new StopSignal(execution, journal);
  try {
    const ending = await run(execution, facts, journal, stop);
    if (!lease.signal.aborted) await journal.end(ending);
  } catch (thrown) {
    const error = journal.failure ?? thrown;
    if (error instanceof LeaseLostError || lease.signal.aborted) return;
    logger.error({ err: error, runId: lease.runId }, "a run failed for a reason of ours");
    journal.discard();
    await journal
      .end({
        status: "failed",
        error: systemFailure("SYSTEM_FAILURE", "An internal error occurred."),
      })
      .catch((again: unknown) => {
        if (again instanceof LeaseLostError) return;
        logger.error({ err: again, runId: lease.runId }, "could not write a run's failure");
      });
  } finally {
    stop.release();
  }
}

async function run(
  execution: RunExecution,
  facts: RunFacts,
  journal: RunJournal,
  stop: StopSignal,
): Promise<Ending> {
  if (execution.lease.takeovers > TAKEOVERS_MAX) {
    const message = `The run's workers died ${TAKEOVERS_MAX} times in a row without progress.`;
    return { status: "failed", error: systemFailure("CRASHED", message, "LEASE_LOST") };
  }
  const { compiled } = execution.deployment;
  if (compiled === null) throw new Error("the deployment does not compile");
  const { timeoutMs } = compiled.definition.settings;
  if (stop.timedOut) return timeoutAfter(timeoutMs);
  const stepScope = new Map<string, StepScope>();
  let outcome: Outcome;
  try {
    outcome = await advance({
      facts,
      definition: compiled.definition,
      scope: scopeOf(execution, facts, stepScope),
      stepScope,
      journal,
      effects: { http: execution.http, expressions: execution.expressions },
      get signal() {
        return stop.signal;
      },
      onStop: () => stop.abort(),
    });
  } catch (error) {
    if (stop.timedOut && !execution.lease.signal.aborted) return timeoutAfter(timeoutMs);
    throw error;
  }
  if (stop.timedOut) return timeoutAfter(timeoutMs);
  switch (outcome.kind) {
    case "waiting":
      return { status: outcome.long ? "suspended" : "running", wakeAt: outcome.dueAt };
    case "failed":
      return { status: "failed", error: outcome.error };
    case "done":
      return completion(compiled.outputSchema, outcome.output);
    default:
      return outcome satisfies never;
  }
}

function completion(schema: JsonSchemaValidator | null, output: unknown): Ending {
  const violations = schema?.validate(output) ?? [];
  if (violations.length > 0) {
    return {
      status: "failed",
      error: {
        code: "OUTPUT_INVALID",
        message: "The output does not fit the workflow's outputSchema.",
        details: { violations },
      },
    };
  }
  const text = storableJson(output);
  if (text.length > OUTPUT_CHARS_MAX) {
    return {
      status: "failed",
      error: { code: "OUTPUT_TOO_LARGE", message: "The run's output is larger than 10 MiB." },
    };
  }
  return { status: "completed", output: text };
}

function factsOf({ row, deployment }: RunExecution): RunFacts {
  return {
    id: row.id,
    companyId: row.company_id,
    workflowId: row.workflow_id,
    workflowName: deployment.name,
    workflowVersion: row.workflow_version,
    triggerType: row.trigger_type,
    requestId: row.request_id,
    createdAt: row.created_at,
    startedAt: row.started_at ?? new Date(),
    started: row.started_at !== null,
  };
}

/** What templates see (D19). */
function scopeOf(
  { row }: RunExecution,
  facts: RunFacts,
  steps: ReadonlyMap<string, StepScope>,
): TemplateScope {
  return {
    input: JSON.parse(row.input),
    steps,
    secrets: { get: () => undefined },
    trigger: { type: facts.triggerType },
    run: {
      id: facts.id,
      workflowId: facts.workflowId,
      version: facts.workflowVersion,
      startedAt: facts.startedAt.toISOString(),
    },
    loop: null,
  };
}

function timeoutAfter(timeoutMs: number): Ending {
  return {
    status: "timeout",
    error: {
      code: "RUN_TIMEOUT",
      message: `The run was executed for longer than ${timeoutMs} ms.`,
    },
  };
}

function systemFailure(
  triggerStatus: string,
  message: string,
  triggerErrorCode?: string,
): ExecutionError {
  return {
    code: "RUNTIME_ERROR",
    message,
    details: { triggerStatus, ...(triggerErrorCode === undefined ? {} : { triggerErrorCode }) },
  };
}

/** Stops an execution when its lease is lost or the run's own time is up (D28). */
class StopSignal {
  readonly #controller = new AbortController();
  readonly #lease: Lease;
  readonly #timer: NodeJS.Timeout;
  readonly #deadline: number;
  #expired = false;
  readonly #onLeaseAbort = (): void => this.abort();

  constructor({ lease, deployment }: RunExecution, journal: RunJournal) {
    this.#lease = lease;
    const timeoutMs = deployment.compiled?.definition.settings.timeoutMs ?? TIMER_MS_MAX;
    const remainingMs = timeoutMs - journal.activeMs;
    this.#deadline = performance.now() + remainingMs;
    this.#timer = setTimeout(
      () => {
        // A timer may fire a moment before its time.
        this.#expired = true;
        this.abort();
      },
      Math.max(0, Math.min(remainingMs, TIMER_MS_MAX)),
    );
    lease.signal.addEventListener("abort", this.#onLeaseAbort, { once: true });
    if (lease.signal.aborted) this.abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get timedOut(): boolean {
    return this.#expired || performance.now() >= this.#deadline;
  }

  abort(): void {
    this.#controller.abort();
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#lease.signal.removeEventListener("abort", this.#onLeaseAbort);
  }
}
