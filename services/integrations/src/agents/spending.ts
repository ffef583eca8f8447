import type { AgentUsage } from "../domain/agent.ts";
import { estimateQuestionTokens } from "./models/estimate-tokens.ts";
import type { ModelQuestion } from "./models/model.ts";
import { addUsage, NO_USAGE } from "./usage.ts";

/** The usage of a question so far. */
export interface Spent {
  /** The usage of the answers that came, as providers counted; undefined while there is none. */
  readonly usage: AgentUsage | undefined;
  /** Repairs that were asked, one without an answer included. */
  readonly repairAttempts: number;
  /**
   * The most tokens that the request without an answer may have used until it ended, or until now; 0 when
   * none was sent.
   */
  readonly openTokens: number;
}

/**
 * The most that a model writes per second, for requests whose end nobody has seen. For a faster model the
 * operator pays the difference; for a slower one the company does, in tokens of its day.
 */
const TOKENS_PER_SECOND_MAX = 200;

/** Follows the usage of a question, for counting it when there is no answer in the end. */
export class Spending {
  #usage: AgentUsage | undefined;
  #repairAttempts = 0;
  #asked: ModelQuestion | null = null;
  #sentAt: number | null = null;
  #endedAt: number | null = null;

  /** The next attempt begins. Nothing of it was sent yet. */
  begin(asked: ModelQuestion, repairAttempts: number): void {
    this.#asked = asked;
    this.#repairAttempts = repairAttempts;
    this.#sentAt = null;
    this.#endedAt = null;
  }

  /** A request of the attempt is sent. An earlier one was refused, and cost nothing. */
  sent(): void {
    this.#sentAt = performance.now();
  }

  answered(usage: AgentUsage): void {
    this.#usage = addUsage(this.#usage ?? NO_USAGE, usage);
    this.#sentAt = null;
  }

  /** The attempt has ended without an answer. */
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
