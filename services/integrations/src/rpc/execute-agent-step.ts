import { isStorableText, parseJsonText } from "@workflow/json";
import type {
  ExecuteAgentStepRequest,
  ExecuteAgentStepResponse,
} from "@workflow/proto/integrations/v1/agent_executions";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import { StepFailureError } from "../actions/action-failure.ts";
import type { Agent } from "../domain/agent.ts";
import type { AgentCallContext } from "../agents/executions/agent-call.ts";
import { findEnded, recordedAsk } from "../agents/executions/recorded-ask.ts";
import type { RecordedQuestion } from "../agents/executions/recorded-question.ts";
import {
  deprecatedAgent,
  noSuchAgent,
  toStepFailure,
  unusableAnswer,
} from "../agents/executions/step-failure.ts";
import { findAgent } from "../agents/find-agent.ts";
import type { FindingContext } from "../agents/find-agent.ts";
import { AgentInputError } from "../agents/agent-input-error.ts";
import type { ExecutionRow } from "../store/agent-executions.ts";
import { badRequest, requireText, toFailureMessage } from "./action-message.ts";

const KEY_CHARS_MAX = 500;
/** Three exchanges of the longest AGENT_TIMEOUT_MS, and the waits before them. */
const ASK_MS_MAX = 40 * 60_000;

/** A step's question before its agent is looked up. */
type StepQuestion = Omit<RecordedQuestion, "agent"> & {
  readonly agentId: string;
  readonly idempotencyKey: string;
};

/** Asks an agent for a step, once for each key. */
export function executeAgentStep(
  context: AgentCallContext & FindingContext,
): UnaryMethod<ExecuteAgentStepRequest, ExecuteAgentStepResponse> {
  return rpc({
    scopes: "internal:effects",
    async handler(request, rpcContext) {
      let executionId = "";
      try {
        const question = parseQuestion(request, rpcContext);
        const execution = await askOrRecall(context, question);
        executionId = execution.id;
        const { outputJson } = execution;
        if (execution.error !== null || outputJson === null) throw unusableAnswer(execution);
        return { outcome: { $case: "outputJson", value: outputJson }, executionId };
      } catch (error) {
        const failure = toFailureMessage(toStepFailure(error));
        return { outcome: { $case: "failure", value: failure }, executionId };
      }
    },
  });
}

/** A recorded answer counts, whatever the state of the agent, its provider or the day's tokens is now. */
async function askOrRecall(
  context: AgentCallContext & FindingContext,
  question: StepQuestion,
): Promise<ExecutionRow> {
  const { companyId, agentId } = question;
  try {
    const agent = await findAgent(context, companyId, agentId);
    return await recordedAsk(context, { ...question, agent: requireActive(agent, agentId) });
  } catch (error) {
    if (!(toStepFailure(error) instanceof StepFailureError)) throw error;
    const recorded = await findEnded(context.database, question);
    if (recorded === null) throw error;
    return recorded;
  }
}

function requireActive(agent: Agent | null, agentId: string): Agent {
  if (agent === null) throw noSuchAgent(agentId);
  if (agent.status === "active") return agent;
  throw deprecatedAgent(agentId);
}

function parseQuestion(
  request: ExecuteAgentStepRequest,
  { identity, traceparent, signal }: RpcContext,
): StepQuestion {
  const { agentId, inputJson, maskedInputJson, timeoutMs, secrets } = request;
  const userMessage = request.userMessage === "" ? null : (request.userMessage ?? null);
  const maskedUserMessage = request.maskedUserMessage ?? userMessage;
  if (timeoutMs < 0) throw badRequest("timeoutMs", "must not be negative");
  for (const [path, text] of Object.entries({ maskedInputJson, maskedUserMessage })) {
    if (!isStorableText(text ?? "")) throw badRequest(path, "must not contain NUL");
  }
  return {
    companyId: identity.companyId,
    traceparent,
    agentId,
    input: parseInput(inputJson),
    userMessage,
    overrides: request.overrides ?? {},
    recorded: {
      inputJson: maskedInputJson === "" ? inputJson : maskedInputJson,
      userMessage: maskedUserMessage,
    },
    secrets,
    workflowRunId: requireText("runId", request.runId),
    idempotencyKey: requireText("idempotencyKey", request.idempotencyKey, KEY_CHARS_MAX),
    signal,
    timeoutMs: timeoutMs === 0 ? ASK_MS_MAX : Math.min(timeoutMs, ASK_MS_MAX),
  };
}

/** Templates may produce an input that no caller could send; the step fails then. */
function parseInput(inputJson: string): Record<string, unknown> {
  const parsed = parseJsonText(inputJson, "object");
  if (parsed.ok) return Object.fromEntries(Object.entries(Object(parsed.value)));
  throw new AgentInputError([{ path: ["input"], message: parsed.message }]);
}
