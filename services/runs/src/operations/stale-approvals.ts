import type { CompiledStep } from "@workflow/definition";
import { blockOf, parseStepPath, partsOf, prefixOf } from "./step-path.ts";
import type { RecordedResult } from "./reusable-results.ts";

/**
 * Removes stale approvals from the results that a run takes over (D59). An approval is stale when the
 * run's input has changed, or a step before it is executed again. The containers of such an approval are
 * removed as well, so that the run reaches it. The same holds for an approval step that the run did not
 * reach: with another input it might.
 *
 * @param kept paths of the results to be taken over
 * @returns the remaining paths, in their order
 */
export function withoutStaleApprovals(
  steps: readonly CompiledStep[],
  results: readonly RecordedResult[],
  kept: readonly string[],
  { inputIsUnchanged }: { inputIsUnchanged: boolean },
): string[] {
  const stale = new StaleApprovals(steps, results, new Set(kept));
  stale.walkBlock(steps, "", inputIsUnchanged);
  return kept.filter((path) => !stale.paths.has(path));
}

/**
 * One walk over a run in the order of execution. `isClean` means that everything so far is as the
 * approvers saw it.
 */
class StaleApprovals {
  readonly paths = new Set<string>();
  readonly #kept: ReadonlySet<string>;
  readonly #recorded: ReadonlySet<string>;
  /** The parts of each step in which something was recorded. */
  readonly #entered = new Map<string, Set<number | string>>();
  readonly #holdsApproval = new Map<CompiledStep, boolean>();

  constructor(
    steps: readonly CompiledStep[],
    results: readonly RecordedResult[],
    kept: ReadonlySet<string>,
  ) {
    this.#kept = kept;
    this.#recorded = new Set(results.map(({ path }) => path));
    for (const { path: resultPath } of results) {
      for (const { path, part } of parseStepPath(steps, resultPath) ?? []) {
        if (part === null) continue;
        const parts = this.#entered.get(path) ?? new Set();
        this.#entered.set(path, parts.add(part));
      }
    }
  }

  /**
   * @param isClean whether everything before the block is clean
   * @returns whether everything is clean after the block
   */
  walkBlock(block: readonly CompiledStep[], prefix: string, isClean: boolean): boolean {
    let clean = isClean;
    for (const step of block) {
      const path = prefix + step.id;
      // Steps that the run did not reach have no results.
      if (!this.#recorded.has(path) && !this.#entered.has(path)) return false;
      clean = this.#walkStep(step, path, clean);
    }
    return clean;
  }

  #walkStep(step: CompiledStep, path: string, isClean: boolean): boolean {
    if (isClean && this.#kept.has(path)) return true;
    if (!this.#leadsToApproval(step)) return false;
    this.paths.add(path);
    let clean = isClean;
    for (const part of this.#partsInOrder(path)) {
      const block = blockOf(step, part) ?? [];
      const after = this.walkBlock(block, prefixOf(path, part), clean);
      // Iterations come after each other; branches and items do not.
      if (step.type === "loop") clean = after;
    }
    return false;
  }

  #partsInOrder(path: string): (number | string)[] {
    return [...(this.#entered.get(path) ?? [])].toSorted((a, b) => Number(a) - Number(b));
  }

  /** Whether a step is an approval, or contains one. */
  #leadsToApproval(step: CompiledStep): boolean {
    const known = this.#holdsApproval.get(step);
    if (known !== undefined) return known;
    const isOne =
      step.type === "approval" ||
      partsOf(step).some((part) =>
        (blockOf(step, part) ?? []).some((inside) => this.#leadsToApproval(inside)),
      );
    this.#holdsApproval.set(step, isOne);
    return isOne;
  }
}
