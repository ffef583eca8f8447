import { setTimeout as pause } from "node:timers/promises";
import { constraintOf, newId } from "@workflow/db";
import type { Database } from "@workflow/db";
import { beginExecution, findExecutionByKey } from "../../store/agent-executions.ts";
import type { Beginning, ExecutionRow, NewExecution } from "../../store/agent-executions.ts";
import type { PreparedQuestion } from "../agent-answer.ts";
import { beginCall } from "./agent-call.ts";
import type { AgentCall, AgentCallContext } from "./agent-call.ts";
import { askAndRecord } from "./ask-and-record.ts";
import type { BegunExecution } from "./ask-and-record.ts";
import { EXECUTION_ID_PREFIX } from "./recorded-question.ts";
import type { RecordedQuestion } from "./recorded-question.ts";

const POLL_MS = 250;

/**
 * Asks an agent and records the call: a row before the provider is asked, its end afterwards. An answer
 * that is recorded under the key is returned without asking again. When another call is asking under
 * the key, this one waits for its end. The answer is always the recorded one.
 *
 * @returns an execution that has completed, or that has failed despite an answer
 * @throws AgentInputError, or ModelCallError NOT_CONFIGURED; nothing is recorded
 * @throws RecordedCallError when the provider gave no answer; the failure is recorded, and the key is
 * free again
 * @throws AppError RATE_LIMITED when the day has no tokens left; UNAVAILABLE when the record could not
 * be kept
 * @throws the signal's reason; the execution is recorded as cancelled
 */
export async function recordedAsk(
  context: AgentCallContext,
  question: RecordedQuestion,
): Promise<ExecutionRow> {
  for (;;) {
    const begun = await begin(context, question);
    if (begun !== null) return askAndRecord(context, question, begun);
    const ended = await findEnded(context.database, question);
    if (ended !== null) return ended;
  }
}

/** The parts of a question that stay the same when it is asked again. */
type KeyedQuestion = Pick<RecordedQuestion, "companyId" | "idempotencyKey" | "signal">;

/**
 * The execution with the same key, whatever its agent's state is now. A running execution is awaited.
 *
 * @returns null when no execution has that key (any more)
 * @throws the signal's reason when it was aborted
 */
export async function findEnded(
  database: Database,
  { companyId, idempotencyKey, signal }: KeyedQuestion,
): Promise<ExecutionRow | null> {
  if (idempotencyKey === null) return null;
  for (;;) {
    const known = await findExecutionByKey(database, companyId, idempotencyKey);
    if (known?.status !== "running") return known;
    await pause(POLL_MS);
    signal.throwIfAborted();
  }
}

/** Null when another execution has the same key. */
async function begin(
  context: AgentCallContext,
  question: RecordedQuestion,
): Promise<BegunExecution | null> {
  const executionId = newId(EXECUTION_ID_PREFIX);
  let call: AgentCall<Beginning> | null;
  try {
    call = await beginCall(context, question, (newCall, prepared) =>
      beginExecution(context.database, newCall, toNewExecution(executionId, question, prepared)),
    );
  } catch (error) {
    // Another call with the same key was faster.
    if (constraintOf(error) === "agent_executions_idempotency_key") return null;
    throw error;
  }
  if (call === null) return null;
  const { createdAt } = call.admission;
  if (createdAt === null) throw new Error("A call was admitted without its execution.");
  return { executionId, createdAt, call };
}

function toNewExecution(
  id: string,
  { agent, recorded, workflowRunId, idempotencyKey }: RecordedQuestion,
  { model }: PreparedQuestion,
): NewExecution {
  return {
    id,
    agentId: agent.id,
    agentVersion: agent.version,
    provider: agent.provider,
    model,
    ...recorded,
    workflowRunId,
    idempotencyKey,
  };
}
