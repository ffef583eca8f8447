import type { ExecutionError } from "../domain/execution-error.ts";
import type { StepOutput } from "../journal/step-outputs.ts";

/** The end of a step. */
export interface StepScope {
  output: StepOutput;
  error: ExecutionError | null;
  status: "success" | "error" | "skipped";
}

/** What templates see of a step. */
interface SeenStep {
  readonly output: unknown;
  readonly error: ExecutionError | null;
  readonly status: StepScope["status"];
}

/**
 * The value of `steps` in templates. Each block of nested steps has a layer of its own above that of the
 * enclosing steps. So items of a parallel step do not see each other, and an iteration of a loop does not
 * see what the one before left behind (D16).
 */
export class StepScopes {
  readonly #own = new Map<string, StepScope>();
  readonly #around: StepScopes | null;

  constructor(around: StepScopes | null = null) {
    this.#around = around;
  }

  /** What templates see of a step. Its output must be in memory when it is read. */
  get(stepId: string): SeenStep | undefined {
    const scope = this.#find(stepId);
    return scope && toSeen(scope);
  }

  /** The outputs of these steps, as far as the steps have ended and are visible. */
  outputsOf(stepIds: readonly string[] | "all"): StepOutput[] {
    if (stepIds !== "all") return stepIds.flatMap((stepId) => this.#find(stepId)?.output ?? []);
    return [...new Map(this.#entries()).values()].map(({ output }) => output);
  }

  /** Whether any step has ended in this layer. */
  get isEmpty(): boolean {
    return this.#own.size === 0;
  }

  set(stepId: string, scope: StepScope): void {
    this.#own.set(stepId, scope);
  }

  /**
   * Takes over what a nested layer holds: later steps can refer to the steps of a container, whether they
   * ended well or not.
   */
  absorb(nested: StepScopes): void {
    for (const [stepId, scope] of nested.#own) this.#own.set(stepId, scope);
  }

  /** Takes over the last iteration or item in which any step has ended. The others are not seen (D16). */
  absorbLast(nested: readonly StepScopes[]): void {
    const last = nested.findLast((layer) => !layer.isEmpty);
    if (last !== undefined) this.absorb(last);
  }

  /** All visible steps by id. */
  toObject(): Record<string, SeenStep> {
    // `fromEntries` keeps a step named __proto__ as an ordinary key.
    return Object.fromEntries(
      Array.from(this.#entries(), ([stepId, scope]) => [stepId, toSeen(scope)]),
    );
  }

  #find(stepId: string): StepScope | undefined {
    const own = this.#own.get(stepId);
    return own === undefined && this.#around !== null ? this.#around.#find(stepId) : own;
  }

  *#entries(): Generator<[string, StepScope]> {
    if (this.#around !== null) yield* this.#around.#entries();
    yield* this.#own;
  }
}

function toSeen({ output, error, status }: StepScope): SeenStep {
  return {
    // A template that names only the status of a step does not need its output in memory.
    get output() {
      return output.value;
    },
    error,
    status,
  };
}
