import { setTimeout as pause } from "node:timers/promises";
import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import { endExecution, findExecution } from "../../store/agent-executions.ts";
import type { Beginning, ExecutionEnd, ExecutionRow } from "../../store/agent-executions.ts";
import type { AgentAnswer, AgentFailure } from "../agent-answer.ts";
import { ModelCallError } from "../models/model-call-error.ts";
import { NO_USAGE } from "../usage.ts";
import { usedWithoutAnswer } from "./agent-call.ts";
import type { AgentCall, AgentCallContext } from "./agent-call.ts";
import { CANCELLED, FAULT, INTERRUPTED, RecordedCallError, toAgentFailure } from "./agent-error.ts";
import { LostClaimError } from "./held-calls.ts";
import type { RecordedQuestion } from "./recorded-question.ts";
import { createAnswerScrubber } from "./without-secrets.ts";

/** An execution whose row is stored. The provider was not asked yet. */
export interface BegunExecution {
  executionId: string;
  createdAt: Date;
  call: AgentCall<Beginning>;
}

/** The pause between tries to write the outcome of a call that was paid for. */
const TRY_AGAIN_MS = 500;

/**
 * Asks the provider for an execution that has begun, and records the answer or the reason why there is none.
 */
export async function askAndRecord(
  context: AgentCallContext,
  question: RecordedQuestion,
  begun: BegunExecution,
): Promise<ExecutionRow> {
  const { call } = begun;
  try {
    const scrubber = createAnswerScrubber(question.secrets);
    let answer: AgentAnswer;
    try {
      answer = await scrubber.answer(await call.ask());
    } catch (thrown) {
      const error = thrown instanceof ModelCallError ? await scrubber.error(thrown) : thrown;
      throw await recordNoAnswer(context, question, begun, error);
    }
    return await recordAnswer(context, question, begun, answer);
  } finally {
    call.held.letGo();
  }
}

async function recordAnswer(
  context: AgentCallContext,
  question: RecordedQuestion,
  begun: BegunExecution,
  answer: AgentAnswer,
): Promise<ExecutionRow> {
  const { durationMs, ...said } = answer;
  const end: ExecutionEnd = {
    ...said,
    status: answer.error === null ? "completed" : "failed",
    durationMs: Math.round(durationMs),
    keepsKey: true,
  };
  const isEnded = await endInTime(context, question, begun, {
    wanted: end,
    usedTokens: end.usage.totalTokens,
  });
  if (isEnded) return toRow(question, begun, answer, end);
  return recordedRow(context.database, question, begun);
}

/** Records that there is no answer, and returns the error to throw. */
async function recordNoAnswer(
  context: AgentCallContext,
  question: RecordedQuestion,
  begun: BegunExecution,
  error: unknown,
): Promise<unknown> {
  const { call } = begun;
  // The sweep ends this execution, or has done so.
  if (error instanceof LostClaimError) return error;
  const isStopped = question.signal.aborted && context.heldCalls.isStopping();
  const isCancelled = question.signal.aborted && !isStopped;
  const failure: AgentFailure = isStopped
    ? INTERRUPTED
    : isCancelled
      ? CANCELLED
      : toAgentFailure(error);
  const { usage = NO_USAGE, repairAttempts } = call.prepared.spent();
  const end: ExecutionEnd = {
    status: isCancelled ? "cancelled" : "failed",
    outputJson: null,
    rawOutput: null,
    usage,
    durationMs: Math.round(performance.now() - call.startedAt),
    finishReason: null,
    schemaValid: null,
    repairAttempts,
    warnings: [],
    error: failure,
    keepsKey: false,
  };
  const usedTokens = usedWithoutAnswer(call, error, isCancelled);
  await endInTime(context, question, begun, { wanted: end, usedTokens });
  return error instanceof ModelCallError ? new RecordedCallError(error, begun.executionId) : error;
}

/**
 * Writes an end, and tries again for one lease while the database is away. An end that the database
 * will never accept becomes a failure without the model's text: the row ends, and the used tokens
 * count.
 *
 * @returns false when nothing was written now: an earlier try has succeeded, the claim was lost, or the
 * failure was written instead
 */
async function endInTime(
  { database, logger, heldCalls }: AgentCallContext,
  { companyId }: RecordedQuestion,
  { executionId, call }: BegunExecution,
  { wanted, usedTokens }: { wanted: ExecutionEnd; usedTokens: number },
): Promise<boolean> {
  const givesUpAt = performance.now() + heldCalls.leaseMs;
  const key = { companyId, executionId };
  let end = wanted;
  for (;;) {
    try {
      const isEnded = await endExecution(database, key, { claim: call.claim, usedTokens }, end);
      return isEnded && end === wanted;
    } catch (error) {
      logger.warn({ err: error, executionId }, "the end of an agent's execution was not recorded");
      const mayPass = databaseErrorToAppError(error).reason === "UNAVAILABLE";
      if (!mayPass && end === wanted) {
        end = withoutAnswer(wanted);
        continue;
      }
      if (!mayPass || call.held.isOver() || performance.now() >= givesUpAt) throw error;
      await pause(TRY_AGAIN_MS);
    }
  }
}

function withoutAnswer({ usage, durationMs, repairAttempts }: ExecutionEnd): ExecutionEnd {
  return {
    status: "failed",
    outputJson: null,
    rawOutput: null,
    usage,
    durationMs,
    finishReason: null,
    schemaValid: null,
    repairAttempts,
    warnings: [],
    error: FAULT,
    keepsKey: false,
  };
}

/** The row as an earlier try has written it; throws when another process has ended it. */
async function recordedRow(
  database: Database,
  { companyId }: RecordedQuestion,
  { executionId }: BegunExecution,
): Promise<ExecutionRow> {
  const row = await findExecution(database, { companyId, executionId });
  if (row === null || row.status === "running" || row.error?.code === INTERRUPTED.code) {
    throw new LostClaimError();
  }
  return row;
}

function toRow(
  { agent, recorded, workflowRunId }: RecordedQuestion,
  { executionId, createdAt, call }: BegunExecution,
  { model, warnings, repairAttempts }: AgentAnswer,
  end: ExecutionEnd,
): ExecutionRow {
  const { usage, ...ended } = end;
  return {
    ...ended,
    ...usage,
    ...recorded,
    id: executionId,
    agentId: agent.id,
    agentVersion: agent.version,
    provider: agent.provider,
    model,
    warnings: [...warnings],
    repairAttempts,
    error: end.error === null ? null : { ...end.error, details: { ...end.error.details } },
    workflowRunId,
    claim: call.claim,
    createdAt,
  };
}
