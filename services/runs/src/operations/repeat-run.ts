import { changesBetween } from "@workflow/audit";
import type { AuditCaller, AuditTrail } from "@workflow/audit";
import { idTimestamp, newId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { isJsonObject, jsonEquals } from "@workflow/json";
import { recordedTraceparent } from "@workflow/tracing";
import type { Tracer } from "@workflow/tracing";
import type {
  CompiledContent,
  Deployment,
  DeploymentCache,
} from "../deployments/deployment-cache.ts";
import { RESTARTABLE_STATUSES, RETRYABLE_STATUSES } from "../domain/run-status.ts";
import type { RunStatus } from "../domain/run-status.ts";
import type { Backlog } from "../starting/backlog.ts";
import type { WorkerPools } from "../starting/worker-pools.ts";
import { startInTransaction } from "../starting/start-in-transaction.ts";
import type { StoringContext } from "../starting/start-in-transaction.ts";
import type { RunSummaryRow } from "../store/read-runs.ts";
import {
  copyResults,
  findOriginal,
  getInput,
  insertRepeatingRun,
  listOutcomes,
} from "../store/restart-run.ts";
import type { OriginalRow } from "../store/restart-run.ts";
import { mergeInput } from "./merge-input.ts";
import { parseStepPath } from "./step-path.ts";
import type { StepPath } from "./step-path.ts";
import { findRestartPath, findRetryPath } from "./restart-point.ts";
import { reusableResults } from "./reusable-results.ts";
import type { RecordedResult } from "./reusable-results.ts";
import { withoutStaleApprovals } from "./stale-approvals.ts";

/** The run that a retry or restart has started. */
export interface RepeatedRun {
  run: RunSummaryRow;
  taskRuntimeRunId: string;
  /** Id or path of the first step that is executed; empty when all steps had ended well. */
  fromStepId: string;
}

/** The step where to restart, and the new input. */
export interface RestartCommand {
  /** Id or path (D26). */
  fromStepId: string;
  /** Laid over the original input; undefined leaves that as it is. */
  overrideInput: unknown;
}

/** The dependencies of repeating. */
/** The caller who repeats a run, and the span of the call. */
type RepeatCaller = AuditCaller & { readonly traceparent?: string | undefined };

interface RepeatContext extends StoringContext {
  tracer: Tracer | undefined;
  audit: AuditTrail;
  backlog: Backlog;
  deployments: DeploymentCache;
  pools: WorkerPools;
}

/** The limit for the input of every run (D4). */
const INPUT_BYTES_MAX = 1024 * 1024;
/** Errors of a run whose steps have all ended well: the fault is in the output of the last one. */
const OUTPUT_ERRORS: ReadonlySet<string> = new Set(["OUTPUT_INVALID", "OUTPUT_TOO_LARGE"]);

/**
 * Starts a run that goes on where another one failed (D27). Its definition is pinned, so the workflow
 * need not be active any more.
 *
 * @throws AppError NOT_FOUND, INVALID_STATE, RATE_LIMITED
 */
export async function retryRun(
  context: RepeatContext,
  caller: RepeatCaller,
  runId: string,
): Promise<RepeatedRun> {
  const { original, steps, results, content, deployment } = await load(context, caller, runId, {
    statuses: RETRYABLE_STATUSES,
    verb: "retried",
  });
  const failedPath = original.error?.details?.["path"];
  const position =
    findRetryPath(steps, results, typeof failedPath === "string" ? failedPath : null) ??
    (OUTPUT_ERRORS.has(original.error?.code ?? "") ? lastStepPath(content) : null);
  const kept = keptResults(steps, results, position, { inputIsUnchanged: true });
  const fromStepId = position?.at(-1)?.step.id ?? "";
  const repeat = { original, deployment, input: null, kept, fromStepId };
  return store(context, caller, "run.retried", repeat);
}

/**
 * Starts a run that repeats another one from a step on (D27). Earlier steps without a reusable result are
 * executed, too.
 *
 * @throws AppError NOT_FOUND, INVALID_STATE, INVALID_STEP, VALIDATION_ERROR, PAYLOAD_TOO_LARGE,
 * RATE_LIMITED
 */
export async function restartRun(
  context: RepeatContext,
  caller: RepeatCaller,
  runId: string,
  { fromStepId, overrideInput }: RestartCommand,
): Promise<RepeatedRun> {
  const { original, steps, results, content, deployment } = await load(context, caller, runId, {
    statuses: RESTARTABLE_STATUSES,
    verb: "restarted",
  });
  const position = findRestartPath(steps, results, fromStepId);
  if (position === null) {
    throw new AppError("INVALID_STEP", "The run's version has no such step to restart from.", {
      details: { fromStepId },
    });
  }
  const input =
    overrideInput === undefined
      ? null
      : changedInput(content, await getInput(context.database, runId), overrideInput);
  const kept = keptResults(steps, results, position, { inputIsUnchanged: input === null });
  const repeat = { original, deployment, input, kept, fromStepId };
  return store(context, caller, "run.restarted", repeat);
}

interface Loaded {
  original: OriginalRow;
  deployment: Deployment;
  content: CompiledContent;
  steps: CompiledContent["definition"]["steps"];
  results: readonly RecordedResult[];
}

/** The permitted statuses are terminal, so nothing of the run changes any more. */
async function load(
  { database, deployments }: RepeatContext,
  { identity: { companyId } }: AuditCaller,
  runId: string,
  { statuses, verb }: { statuses: readonly RunStatus[]; verb: string },
): Promise<Loaded> {
  const original = await findOriginal(database, companyId, runId);
  if (original === null) throw new AppError("NOT_FOUND", "Run not found");
  const { status } = original;
  if (!statuses.includes(status)) {
    throw new AppError("INVALID_STATE", `The run is ${status} and cannot be ${verb}.`, {
      details: { currentStatus: status },
    });
  }
  const [results, loaded] = await Promise.all([
    listOutcomes(database, runId),
    deployments.getMany([original.deploymentId]),
  ]);
  const deployment = loaded.get(original.deploymentId);
  const content = deployment?.compiled ?? null;
  if (deployment === undefined || content === null) {
    throw new Error("a run's deployment is missing or does not compile");
  }
  return { original, deployment, content, steps: content.definition.steps, results };
}

function lastStepPath({ definition: { steps } }: CompiledContent): StepPath | null {
  const last = steps.at(-1);
  return last === undefined ? null : parseStepPath(steps, last.id);
}

function keptResults(
  steps: Loaded["steps"],
  results: Loaded["results"],
  position: StepPath | null,
  change: { inputIsUnchanged: boolean },
): string[] {
  return withoutStaleApprovals(steps, results, reusableResults(steps, results, position), change);
}

/**
 * The original input with the override laid over it, as JSON text; null when the override changes
 * nothing.
 *
 * @throws AppError BAD_REQUEST when the original is no object, VALIDATION_ERROR, PAYLOAD_TOO_LARGE
 */
function changedInput(
  { inputSchema }: CompiledContent,
  originalText: string,
  override: unknown,
): string | null {
  const original: unknown = JSON.parse(originalText);
  if (!isJsonObject(original)) {
    const message = "cannot be laid over the run's input, which is no object";
    throw new AppError("BAD_REQUEST", `overrideInput ${message}.`, {
      violations: [{ path: ["overrideInput"], message }],
    });
  }
  const merged = mergeInput(original, override);
  const text = JSON.stringify(merged);
  if (Buffer.byteLength(text) > INPUT_BYTES_MAX) {
    const message = `The merged input is larger than ${INPUT_BYTES_MAX} bytes.`;
    throw new AppError("PAYLOAD_TOO_LARGE", message);
  }
  const violations = inputSchema?.validate(merged) ?? [];
  if (violations.length > 0) {
    const message = "The merged input does not fit the workflow's inputSchema.";
    throw new AppError("VALIDATION_ERROR", message, { violations });
  }
  return jsonEquals(original, merged) ? null : text;
}

interface NewRepeat {
  original: OriginalRow;
  deployment: Deployment;
  /** JSON text; null: the original's. */
  input: string | null;
  /** Paths of the results that are taken over. */
  kept: readonly string[];
  fromStepId: string;
}

async function store(
  context: RepeatContext,
  caller: RepeatCaller,
  action: "run.retried" | "run.restarted",
  { original, deployment, input, kept, fromStepId }: NewRepeat,
): Promise<RepeatedRun> {
  const { audit, runtime } = context;
  const { companyId } = caller.identity;
  await context.backlog.admit(companyId);
  const id = newId("run_");
  const run = {
    id,
    originalRunId: original.id,
    taskRuntimeRunId: runtime.runtimeRunId(id),
    input,
    requestId: caller.requestId,
    traceparent: recordedTraceparent(context.tracer, caller.traceparent),
    createdAt: idTimestamp(id),
  };
  await startInTransaction(context, async (transaction, starting) => {
    await insertRepeatingRun(transaction, run);
    if (kept.length > 0) {
      await copyResults(transaction, { from: original.id, to: id, paths: kept });
    }
    const pool = context.pools.of(companyId, deployment);
    await starting.dispatch([{ runId: id, companyId, pool }]);
    await audit.record(transaction, caller, {
      action,
      resourceType: "run",
      resourceId: original.id,
      changes: changesBetween({}, { newRunId: id, fromStepId }),
    });
  });
  audit.wake();
  return {
    run: {
      id,
      workflowId: original.workflowId,
      workflowName: deployment.name,
      workflowVersion: original.workflowVersion,
      status: "pending",
      triggerType: original.triggerType,
      error: null,
      restartedFromRunId: original.id,
      createdAt: run.createdAt,
      startedAt: null,
      completedAt: null,
    },
    taskRuntimeRunId: run.taskRuntimeRunId,
    fromStepId,
  };
}
