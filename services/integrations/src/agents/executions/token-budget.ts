import { setTimeout as pause } from "node:timers/promises";
import { Turns } from "@workflow/async";
import { AppError } from "@workflow/errors";
import type { Admission } from "../../store/agent-calls.ts";

/** The tokens that a company's agents may use per UTC day (D63). */
export interface TokenBudget {
  /** AGENT_TOKENS_PER_DAY; 0 is no limit. */
  readonly tokensPerDay: number;
  /**
   * Begins a call once the day has enough tokens. When only concurrent calls hold the missing tokens,
   * it waits, because those calls may use less. One waiting call of a company polls at a time.
   *
   * @param attempt begins the call, or says why not; `isKnown` means that there is nothing to begin
   * @throws AppError RATE_LIMITED when the day's tokens are used up, or concurrent calls hold them for
   * all of `timeoutMs` or a minute; the signal's reason when it was aborted
   */
  admit<Result extends Admission & { isKnown?: boolean }>(
    companyId: string,
    attempt: () => Promise<Result>,
    limits: { signal: AbortSignal; timeoutMs: number },
  ): Promise<Result>;
}

const ASK_AGAIN_MS = 200;
const WAIT_MS_MAX = 60_000;
/** The `Retry-After` of a caller that has waited in vain for concurrent calls, which may end at any time. */
const BUSY_RETRY_MS = 5_000;

export function createTokenBudget(tokensPerDay: number): TokenBudget {
  const askers = new Turns({ perTenant: 1 });
  return {
    tokensPerDay,
    async admit(companyId, attempt, { signal, timeoutMs }) {
      const attemptOrRefuse = async () => {
        const result = await attempt();
        if (result.isAdmitted || result.isKnown === true) return result;
        if (result.used >= tokensPerDay) throw usedUp(tokensPerDay, result.resetsAt);
        return null;
      };
      const first = await attemptOrRefuse();
      if (first !== null) return first;
      const late = new AbortController();
      const timer = setTimeout(
        () => late.abort(held(tokensPerDay)),
        Math.min(timeoutMs, WAIT_MS_MAX),
      );
      const stop = AbortSignal.any([signal, late.signal]);
      let giveBack: (() => void) | undefined;
      try {
        giveBack = await askers.take(companyId, stop);
        for (;;) {
          stop.throwIfAborted();
          const next = await attemptOrRefuse();
          if (next !== null) return next;
          await pause(ASK_AGAIN_MS);
        }
      } finally {
        giveBack?.();
        clearTimeout(timer);
      }
    },
  };
}

function usedUp(tokensPerDay: number, resetsAt: Date): AppError {
  const message = `A company's agents may use ${tokensPerDay} tokens a day (AGENT_TOKENS_PER_DAY), and they are used up. The count begins anew at ${resetsAt.toISOString()}.`;
  return new AppError("RATE_LIMITED", message, {
    details: { limit: "agentTokens", tokensPerDay, resetsAt: resetsAt.toISOString() },
    retryAfterMs: Math.max(0, resetsAt.getTime() - Date.now()),
  });
}

function held(tokensPerDay: number): AppError {
  const message = `A company's agents may use ${tokensPerDay} tokens a day (AGENT_TOKENS_PER_DAY), and calls under way hold what is left.`;
  return new AppError("RATE_LIMITED", message, {
    details: { limit: "agentTokens", tokensPerDay },
    retryAfterMs: BUSY_RETRY_MS,
  });
}
