import type { AgentAnswer, AgentFailure, AgentQuestion } from "../agent-answer.ts";
import type { Agent, AgentOverrides } from "../../domain/agent.ts";
import { isDayOver, outOfTime, toCaseError } from "./case-error.ts";
import { NO_USAGE } from "../usage.ts";
import type { CaseError } from "./case-error.ts";
import type { CaseResult, EvaluationCase } from "./evaluation-case.ts";
import { judgeOutput } from "./judge-output.ts";
import type { CaseExpressions } from "./lazy-expressions.ts";

/** The dependencies of an evaluation. */
export interface EvaluationTools {
  readonly expressions: CaseExpressions;
  /**
   * Asks one case. Its errors are those of `PrepareQuestion`, of the prepared question and of the company's
   * token budget.
   */
  readonly ask: (question: AgentQuestion) => Promise<AgentAnswer>;
}

/** An agent and the cases that judge it. */
export interface Evaluation {
  readonly companyId: string;
  readonly agent: Agent;
  readonly cases: readonly EvaluationCase[];
  readonly overrides: AgentOverrides;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  /** The start by performance.now(). */
  readonly startedAt: number;
  /** The limit of the whole evaluation, including what came before the first case. */
  readonly timeoutMs: number;
}

/** Cases that are asked at the same time. */
const CONCURRENCY = 5;
/** The limit of all outputs together, because the whole answer is held in memory. */
const OUTPUT_BYTES_SUM_MAX = 16 * 1024 * 1024;
/** The evaluation's own timeout is earlier than the case's, so that a case names the right one. */
const MARGIN_MS = 1_000;

/**
 * Asks all cases, some at a time, and judges the answers.
 *
 * @returns results in the order of the cases
 * @throws AppError RATE_LIMITED when the day's tokens were used up before any case was asked; the
 * signal's reason when it was aborted; any error that prevents all cases from being asked
 */
export async function evaluateCases(
  tools: EvaluationTools,
  evaluation: Evaluation,
): Promise<CaseResult[]> {
  const run = new EvaluationRun(tools, evaluation);
  try {
    return await run.results();
  } finally {
    run.end();
  }
}

class EvaluationRun {
  readonly #tools: EvaluationTools;
  readonly #evaluation: Evaluation;
  readonly #endsAt: number;
  readonly #late = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** The first error that ended the whole evaluation. */
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;
  /** The first refusal that makes further cases pointless. */
  #dayOver: unknown;
  #outputBytesLeft = OUTPUT_BYTES_SUM_MAX;

  constructor(tools: EvaluationTools, evaluation: Evaluation) {
    this.#tools = tools;
    this.#evaluation = evaluation;
    this.#endsAt = evaluation.startedAt + evaluation.timeoutMs;
    const leftMs = Math.max(0, this.#endsAt - performance.now());
    this.#timer = setTimeout(() => this.#late.abort(), leftMs);
    this.#signal = AbortSignal.any([evaluation.signal, this.#late.signal, this.#failed.signal]);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  async results(): Promise<CaseResult[]> {
    const { cases, signal } = this.#evaluation;
    const results: CaseResult[] = [];
    const waiting = cases.entries();
    // All workers share one iterator: each takes the next case.
    const work = async (): Promise<void> => {
      for (const [index, each] of waiting) results[index] = await this.#evaluate(each);
    };
    const workers = Array.from({ length: CONCURRENCY }, async () => {
      try {
        await work();
      } catch (error) {
        this.#failed.abort(error);
      }
    });
    await Promise.all(workers);
    signal.throwIfAborted();
    this.#failed.signal.throwIfAborted();
    const isNoneAsked = results.every(({ error }) => error?.code === "AGENT_QUOTA");
    if (isNoneAsked && this.#dayOver !== undefined) throw this.#dayOver;
    return results;
  }

  async #evaluate(each: EvaluationCase): Promise<CaseResult> {
    const { timeoutMs } = this.#evaluation;
    const startedAt = performance.now();
    const failed = ({ error, usage }: CaseError): CaseResult => ({
      ...withoutOutput(error),
      usage,
      durationMs: Math.round(performance.now() - startedAt),
    });
    if (this.#late.signal.aborted) return failed(outOfTime(timeoutMs, false));
    this.#signal.throwIfAborted();
    const known = toCaseError(this.#dayOver);
    if (known !== null) return failed(known);
    try {
      return await this.#judge(each, await this.#ask(each));
    } catch (error) {
      if (this.#evaluation.signal.aborted || this.#failed.signal.aborted) throw error;
      if (this.#late.signal.aborted) return failed(outOfTime(timeoutMs, true));
      if (isDayOver(error)) this.#dayOver = error;
      const found = toCaseError(error);
      if (found === null) throw error;
      return failed(found);
    }
  }

  #ask({ input, userMessage }: EvaluationCase): Promise<AgentAnswer> {
    const { companyId, agent, overrides } = this.#evaluation;
    const timeoutMs = Math.max(0, this.#endsAt - performance.now()) + MARGIN_MS;
    const signal = this.#signal;
    return this.#tools.ask({ companyId, agent, input, userMessage, overrides, signal, timeoutMs });
  }

  async #judge(each: EvaluationCase, answer: AgentAnswer): Promise<CaseResult> {
    const { outputJson, usage, durationMs, schemaValid, error } = answer;
    const cost = { usage, durationMs };
    if (outputJson === null) {
      return { ...withoutOutput(error ?? NO_OUTPUT), ...cost, schemaValid };
    }
    this.#outputBytesLeft -= Buffer.byteLength(outputJson);
    if (this.#outputBytesLeft < 0) return { ...withoutOutput(TOO_LARGE), ...cost, schemaValid };
    const reason = await this.#findFault(each, outputJson);
    return { reason, outputJson, schemaValid, ...cost, error: null };
  }

  /** An output that was paid for is shown, even when no time was left to judge it. */
  async #findFault(each: EvaluationCase, outputJson: string): Promise<string | null> {
    const { companyId, signal, timeoutMs } = this.#evaluation;
    const { expressions } = this.#tools;
    try {
      return await judgeOutput(expressions, each, { companyId, outputJson }, this.#signal);
    } catch (error) {
      if (signal.aborted || !this.#late.signal.aborted) throw error;
      return outOfTime(timeoutMs, true).error.message;
    }
  }
}

function withoutOutput(error: AgentFailure): CaseResult {
  const usage = NO_USAGE;
  const reason = error.message;
  return { reason, outputJson: null, schemaValid: null, usage, durationMs: 0, error };
}

const NO_OUTPUT: AgentFailure = {
  code: "AGENT_OUTPUT_INVALID",
  message: "The answer holds no output.",
  details: {},
};

const TOO_LARGE: AgentFailure = {
  code: "AGENT_OUTPUT_TOO_LARGE",
  message: `The outputs of an evaluation have at most ${OUTPUT_BYTES_SUM_MAX} bytes together.`,
  details: { bytesMax: OUTPUT_BYTES_SUM_MAX },
};
