import { AppError } from "@workflow/errors";
import type { TestAgentRequest, TestAgentResponse } from "@workflow/proto/integrations/v1/agents";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { askWithinBudget } from "../agents/executions/ask-within-budget.ts";
import type { AgentAnswer } from "../agents/agent-answer.ts";
import { getAskableAgent } from "../agents/askable-agent.ts";
import type { ServiceContext } from "../context.ts";
import { toErrorMessage } from "./agent-execution-message.ts";
import { bytesOf, parseQuestion, QUESTION_TIMEOUT_MS, toQuestionError } from "./agent-question.ts";

/** Asks an agent of the company without a record. */
export function testAgent(
  context: ServiceContext,
): UnaryMethod<TestAgentRequest, TestAgentResponse> {
  return rpc({
    scopes: "workflows:execute",
    async handler(request, { identity, signal }) {
      const { companyId } = identity;
      try {
        return await context.agentPlaces.within(companyId, bytesOf(request), async () => {
          const { input, userMessage } = parseQuestion(request);
          const agent = await getAskableAgent(context, companyId, request.agentId);
          if (agent.isCore) throw new AppError("BAD_REQUEST", "Core agents cannot be tested.");
          const answer = await askWithinBudget(context, {
            companyId,
            agent,
            input,
            userMessage,
            overrides: request.overrides ?? {},
            signal,
            timeoutMs: QUESTION_TIMEOUT_MS,
          });
          return toMessage(answer);
        });
      } catch (error) {
        throw toQuestionError(error);
      }
    },
  });
}

function toMessage(answer: AgentAnswer): TestAgentResponse {
  return {
    outputJson: answer.outputJson ?? "",
    rawOutput: answer.rawOutput,
    usage: answer.usage,
    durationMs: Math.round(answer.durationMs),
    schemaValid: answer.schemaValid,
    repairAttempts: answer.repairAttempts,
    finishReason: answer.finishReason,
    warnings: [...answer.warnings],
    error: answer.error === null ? undefined : toErrorMessage(answer.error),
  };
}
