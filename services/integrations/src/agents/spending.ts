import type { AgentUsage } from "../domain/agent.ts";
import { estimateQuestionTokens } from "./models/estimate-tokens.ts";
import type { ModelQuestion } from "./models/model.ts";
import { addUsage, NO_USAGE } from "./usage.ts";

/** The usage of a question so far. */
export interface Spent {
  /** The usage of the answers so far, as providers counted; undefined before the first answer. */
  readonly usage: AgentUsage | undefined;
  /** The number of repairs that were asked, including one without an answer. */
  readonly repairAttempts: number;
  /** The most tokens that the unanswered request may have used so far; 0 when none was sent. */
  readonly openTokens: number;
}

/**
 * The highest speed at which a model writes, for requests whose end nobody has seen. With a faster
 * model the operator pays the difference; with a slower one the company does, in tokens of its day.
 */
const TOKENS_PER_SECOND_MAX = 200;

/** Follows the usage of a question, so that a question without an answer is counted as well. */
export class Spending {
  #usage: AgentUsage | undefined;
  #repairAttempts = 0;
  #asked: ModelQuestion | null = null;
  #sentAt: number | null = null;
  #endedAt: number | null = null;

  /** Begins the next attempt, before anything of it is sent. */
  begin(asked: ModelQuestion, repairAttempts: number): void {
    this.#asked = asked;
    this.#repairAttempts = repairAttempts;
    this.#sentAt = null;
    this.#endedAt = null;
  }

  /**
   * Notes that a request of the attempt was sent. An earlier request of the attempt was refused and
   * cost nothing.
   */
  sent(): void {
    this.#sentAt = performance.now();
  }

  answered(usage: AgentUsage): void {
    this.#usage = addUsage(this.#usage ?? NO_USAGE, usage);
    this.#sentAt = null;
  }

  /** Notes that the attempt has ended without an answer. */
  failed(): void {
    this.#endedAt = performance.now();
  }

  get spent(): Spent {
    const openTokens = this.#openTokens();
    return { usage: this.#usage, repairAttempts: this.#repairAttempts, openTokens };
  }

  #openTokens(): number {
    if (this.#asked === null || this.#sentAt === null) return 0;
    const seconds = ((this.#endedAt ?? performance.now()) - this.#sentAt) / 1_000;
    const written = Math.ceil(seconds * TOKENS_PER_SECOND_MAX);
    return estimateQuestionTokens(this.#asked) + Math.min(this.#asked.maxTokens, written);
  }
}
