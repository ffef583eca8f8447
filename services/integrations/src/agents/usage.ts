import type { AgentUsage } from "../domain/agent.ts";

/** The usage of nothing. */
export const NO_USAGE: AgentUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** The sum of two usages. */
export function addUsage(one: AgentUsage, other: AgentUsage): AgentUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    totalTokens: one.totalTokens + other.totalTokens,
  };
}
