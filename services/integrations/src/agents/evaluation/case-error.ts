import { isAppError } from "@workflow/errors";
import { z } from "zod";
import type { AgentFailure } from "../agent-answer.ts";
import type { AgentUsage } from "../../domain/agent.ts";
import { toAgentFailure } from "../executions/agent-error.ts";
import { ModelCallError } from "../models/model-call-error.ts";
import { NO_USAGE } from "../usage.ts";

/** The reason why a case has no answer, and its cost. */
export interface CaseError {
  readonly error: AgentFailure;
  readonly usage: AgentUsage;
}

/** The error of one case only; null for an error of the whole evaluation. */
export function toCaseError(thrown: unknown): CaseError | null {
  if (thrown instanceof ModelCallError) {
    return { error: toAgentFailure(thrown), usage: thrown.failure.usage ?? NO_USAGE };
  }
  const { data: refusal } = tokenLimit.safeParse(thrown);
  if (refusal !== undefined) {
    const { message, details } = refusal;
    return { error: { code: "AGENT_QUOTA", message, details }, usage: NO_USAGE };
  }
  if (!isAppError(thrown) || thrown.reason !== "UNAVAILABLE") return null;
  // The database was away for a moment. The results of other cases, which cost tokens, are kept.
  const { message } = thrown;
  return { error: { code: "AGENT_UNAVAILABLE", message, details: {} }, usage: NO_USAGE };
}

/** How the company's budget of tokens refuses a call. */
const tokenLimit = z.object({
  reason: z.literal("RATE_LIMITED"),
  message: z.string(),
  details: z.looseObject({
    limit: z.literal("agentTokens"),
    /** Missing while concurrent calls hold the remaining tokens. */
    resetsAt: z.string().optional(),
  }),
});

/** Whether the company's day has no tokens left, so that no later case would be asked. */
export function isDayOver(thrown: unknown): boolean {
  return tokenLimit.safeParse(thrown).data?.details.resetsAt !== undefined;
}

/** The error of a case whose answer did not come before the evaluation's timeout. */
export function outOfTime(timeoutMs: number, wasAsked: boolean): CaseError {
  const over = `The evaluation took longer than ${timeoutMs / 1_000} s`;
  const message = wasAsked
    ? `${over}: this case was given up.`
    : `${over}: this case was not asked.`;
  return { error: { code: "AGENT_TIMEOUT", message, details: { timeoutMs } }, usage: NO_USAGE };
}
