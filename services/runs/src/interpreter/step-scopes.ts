import type { ExecutionError } from "../domain/execution-error.ts";

/** What templates see of a step that has ended. */
export interface StepScope {
  output: unknown;
  error: ExecutionError | null;
  status: "success" | "error" | "skipped";
}

/**
 * What templates see as `steps`: a layer of its own for each block of nested steps, above that of the
 * steps around it. So items of a parallel step do not see each other, and an iteration of a loop does
 * not see what the one before left behind (D16).
 */
export class StepScopes {
  readonly #own = new Map<string, StepScope>();
  readonly #around: StepScopes | null;

  constructor(around: StepScopes | null = null) {
    this.#around = around;
  }

  get(stepId: string): StepScope | undefined {
    return this.#own.get(stepId) ?? this.#around?.get(stepId);
  }

  set(stepId: string, scope: StepScope): void {
    this.#own.set(stepId, scope);
  }

  /**
   * Takes over what a nested layer has seen: after a container its steps can be referred to, whether
   * they ended well or not.
   */
  absorb(nested: StepScopes): void {
    for (const [stepId, scope] of nested.#own) this.#own.set(stepId, scope);
  }

  /**
   * Takes over the last of several iterations or items in which any step has ended; what the others
   * did is not seen (D16).
   */
  absorbLast(nested: readonly StepScopes[]): void {
    const last = nested.findLast((layer) => layer.#own.size > 0);
    if (last !== undefined) this.absorb(last);
  }

  /** Everything that can be seen, by step id. */
  toObject(): Record<string, StepScope> {
    // `fromEntries` keeps a step named __proto__ a plain key.
    return Object.fromEntries(this.#entries());
  }

  *#entries(): Generator<[string, StepScope]> {
    if (this.#around !== null) yield* this.#around.#entries();
    yield* this.#own;
  }
}
