import type {
  AgentExecution,
  ExecuteAgentRequest,
} from "@workflow/proto/integrations/v1/agent_executions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { recordedAsk } from "../agents/executions/recorded-ask.ts";
import { getAskableAgent } from "../agents/askable-agent.ts";
import type { ServiceContext } from "../context.ts";
import { toExecutionMessage } from "./agent-execution-message.ts";
import {
  bytesOf,
  parseQuestion,
  QUESTION_TIMEOUT_MS,
  requireText,
  toQuestionError,
} from "./agent-question.ts";

const RUN_ID_CHARS_MAX = 128;

/** Asks an agent and records the execution, for callers other than steps. */
export function executeAgent(
  context: ServiceContext,
): UnaryMethod<ExecuteAgentRequest, AgentExecution> {
  return rpc({
    scopes: "workflows:execute",
    async handler(request, { identity, traceparent, signal }) {
      const { companyId } = identity;
      try {
        return await context.agentPlaces.within(companyId, bytesOf(request), async () => {
          const { input, inputJson, userMessage } = parseQuestion(request);
          const runId = requireText("workflowRunId", request.workflowRunId ?? "", RUN_ID_CHARS_MAX);
          const agent = await getAskableAgent(context, companyId, request.agentId);
          const execution = await recordedAsk(context, {
            companyId,
            traceparent,
            agent,
            input,
            userMessage,
            overrides: request.overrides ?? {},
            signal,
            timeoutMs: QUESTION_TIMEOUT_MS,
            recorded: { inputJson, userMessage },
            secrets: [],
            workflowRunId: runId === "" ? null : runId,
            idempotencyKey: null,
          });
          return toExecutionMessage(execution);
        });
      } catch (error) {
        throw toQuestionError(error);
      }
    },
  });
}
