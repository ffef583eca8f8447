import { newUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { Admission, NewCall } from "../../store/agent-calls.ts";
import type {
  AgentAnswer,
  AgentQuestion,
  PreparedQuestion,
  PrepareQuestion,
} from "../agent-answer.ts";
import { ModelCallError } from "../models/model-call-error.ts";
import type { AgentMetrics } from "./agent-metrics.ts";
import type { HeldCall, HeldCalls } from "./held-calls.ts";
import type { TokenBudget } from "./token-budget.ts";

/** The dependencies of calls to agents. */
export interface AgentCallContext {
  readonly database: Database;
  readonly prepareQuestion: PrepareQuestion;
  readonly heldCalls: HeldCalls;
  readonly tokenBudget: TokenBudget;
  readonly agentMetrics: AgentMetrics;
  readonly logger: Logger;
}

/** An admitted call. The budget holds its tokens, and its lease is renewed until it is released. */
export interface AgentCall<Result> {
  readonly claim: string;
  readonly held: HeldCall;
  readonly prepared: PreparedQuestion;
  /** The result of the admission. */
  readonly admission: Result;
  readonly startedAt: number;
  /** Asks the agent. When it throws, `usedWithoutAnswer` returns the cost. */
  readonly ask: () => Promise<AgentAnswer>;
}

/**
 * Prepares a question and admits its call.
 *
 * @param admit begins the call in the database
 * @returns null when `admit` reports a known call
 * @throws the errors of PrepareQuestion and TokenBudget
 */
export async function beginCall<Result extends Admission & { isKnown?: boolean }>(
  context: AgentCallContext,
  question: AgentQuestion,
  admit: (call: NewCall, prepared: PreparedQuestion) => Promise<Result>,
): Promise<AgentCall<Result> | null> {
  const { heldCalls, tokenBudget, agentMetrics } = context;
  const stop = new AbortController();
  const signal = AbortSignal.any([question.signal, stop.signal]);
  const prepared = await context.prepareQuestion({ ...question, signal });
  // A caller that has left before the question was sent pays nothing.
  signal.throwIfAborted();
  const { companyId, timeoutMs } = question;
  const call: NewCall = {
    claim: newUuid(),
    companyId,
    reserved: prepared.inputTokensEstimate + prepared.maxTokens,
    leaseMs: heldCalls.leaseMs,
    tokensPerDay: tokenBudget.tokensPerDay,
  };
  let admittedFrom = performance.now();
  const attempt = (): Promise<Result> => {
    admittedFrom = performance.now();
    return admit(call, prepared);
  };
  const admission = await tokenBudget.admit(companyId, attempt, { signal, timeoutMs });
  if (!admission.isAdmitted) return null;
  const { claim } = call;
  return {
    claim,
    held: heldCalls.hold(claim, stop, admittedFrom),
    prepared,
    admission,
    startedAt: performance.now(),
    ask: () => agentMetrics.measure(question.agent.provider, prepared),
  };
}

/**
 * Tokens that a call without an answer has used: those of earlier answers, and the possible cost of the
 * last request. The latter counts when the request timed out, broke off or was aborted. Otherwise such
 * questions would be free, however often they are asked. The operator pays for calls that this service
 * ends itself.
 */
export function usedWithoutAnswer(
  { prepared }: AgentCall<unknown>,
  error: unknown,
  isGivenUp: boolean,
): number {
  const { usage, openTokens } = prepared.spent();
  const isOpen = error instanceof ModelCallError ? error.failure.mayHaveCost : isGivenUp;
  return (usage?.totalTokens ?? 0) + (isOpen ? openTokens : 0);
}
