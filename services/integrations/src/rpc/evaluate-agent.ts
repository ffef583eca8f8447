import { isStorableText } from "@workflow/json";
import type {
  AgentCaseResult,
  EvaluateAgentRequest,
  EvaluateAgentResponse,
} from "@workflow/proto/integrations/v1/agent_evaluations";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { Agent } from "../domain/agent.ts";
import { getAskableAgent } from "../agents/askable-agent.ts";
import { checkExpressions } from "../agents/evaluation/check-expressions.ts";
import { checkInputs } from "../agents/evaluation/check-inputs.ts";
import { evaluateCases } from "../agents/evaluation/evaluate-cases.ts";
import type { CaseResult } from "../agents/evaluation/evaluation-case.ts";
import { invalidCases, parseCases } from "../agents/evaluation/parse-cases.ts";
import { askWithinBudget } from "../agents/executions/ask-within-budget.ts";
import { hasAtMost, SYSTEM_PROMPT_CHARS_MAX } from "../agents/limits.ts";
import { addUsage, NO_USAGE } from "../agents/usage.ts";
import type { ServiceContext } from "../context.ts";
import { toErrorMessage } from "./agent-execution-message.ts";
import { toQuestionError } from "./agent-question.ts";

/** Asks an agent for every case and compares the answers with the expectations. */
export function evaluateAgent(
  context: ServiceContext,
): UnaryMethod<EvaluateAgentRequest, EvaluateAgentResponse> {
  const { evaluations, expressions, prepareQuestion } = context;
  return rpc({
    scopes: "workflows:execute",
    async handler(request, { identity, signal }) {
      const companyId = identity.companyId.toLowerCase();
      const leave = evaluations.take(companyId);
      try {
        const startedAt = performance.now();
        const cases = await parseCases(request.cases);
        const agent = toCandidate(
          await getAskableAgent(context, companyId, request.agentId),
          request,
        );
        const { timeoutMs } = evaluations;
        const overrides = request.overrides ?? {};
        const evaluation = { companyId, agent, cases, overrides, signal, startedAt, timeoutMs };
        await checkInputs(prepareQuestion, evaluation);
        await checkExpressions(expressions, companyId, cases);
        const ask = askWithinBudget.bind(null, context);
        const results = await evaluateCases({ expressions, ask }, evaluation);
        return {
          agentId: agent.id,
          agentVersion: agent.version,
          results: results.map((result, index) => toMessage(result, cases[index]?.name)),
          usage: results.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
          durationMs: Math.round(performance.now() - startedAt),
        };
      } catch (error) {
        throw toQuestionError(error);
      } finally {
        leave();
      }
    },
  });
}

/** The agent with the prompt that is evaluated. */
function toCandidate(agent: Agent, { systemPrompt }: EvaluateAgentRequest): Agent {
  if (systemPrompt === undefined) return agent;
  const path = ["systemPrompt"];
  if (agent.isCore) throw invalidCases([{ path, message: "cannot replace that of a core agent" }]);
  if (!isStorableText(systemPrompt)) {
    throw invalidCases([{ path, message: "must not contain NUL or unpaired surrogates" }]);
  }
  if (systemPrompt === "" || !hasAtMost(systemPrompt, SYSTEM_PROMPT_CHARS_MAX)) {
    const message = `must have 1 to ${SYSTEM_PROMPT_CHARS_MAX} characters`;
    throw invalidCases([{ path, message }]);
  }
  return { ...agent, systemPrompt };
}

function toMessage(result: CaseResult, name: string | undefined): AgentCaseResult {
  const { reason, outputJson, schemaValid, usage, durationMs, error } = result;
  return {
    name,
    passed: reason === null,
    outputJson: outputJson ?? undefined,
    schemaValid: schemaValid ?? undefined,
    usage,
    durationMs,
    reason: reason ?? undefined,
    error: error === null ? undefined : toErrorMessage(error),
  };
}
