import type { ExecutionError } from "../domain/execution-error.ts";
import type { StepRecord } from "../engine/journal.ts";

/** A step result from before, as the interpreter needs it to go on. */
export interface PastResult {
  path: string;
  stepId: string;
  status: StepRecord["status"];
  output: unknown;
  error: ExecutionError | null;
}

/** The step results that earlier executions of a run have written. */
export class PastResults {
  readonly #byPath: Map<string, PastResult>;
  /** Paths in the order of their text, in which those inside a container stand together. */
  #sorted: string[] | null = null;

  /** @param results in the order in which the steps began */
  constructor(results: readonly PastResult[]) {
    this.#byPath = new Map(results.map((result) => [result.path, result]));
  }

  find(path: string): PastResult | undefined {
    return this.#byPath.get(path);
  }

  /** The successful result of one of these steps, if there is any. */
  findSuccessOf(stepIds: ReadonlySet<string>): PastResult | undefined {
    if (stepIds.size === 0) return undefined;
    for (const result of this.#byPath.values()) {
      if (result.status === "success" && stepIds.has(result.stepId)) return result;
    }
    return undefined;
  }

  /** The results inside a container, by path. */
  inside(containerPath: string): readonly PastResult[] {
    return this.#pathsInside(containerPath).flatMap((path) => this.#byPath.get(path) ?? []);
  }

  /** The parts of a container with results inside: branches by id, iterations and items by number. */
  partsOf(containerPath: string): (string | number)[] {
    const parts = new Set<string | number>();
    for (const path of this.#pathsInside(containerPath)) {
      const rest = path.slice(containerPath.length);
      const index = /^\[(\d+)\]/.exec(rest)?.[1];
      parts.add(index === undefined ? (rest.slice(1).split(".", 1)[0] ?? "") : Number(index));
    }
    return [...parts];
  }

  /** Forgets the results inside a container. */
  forgetInside(containerPath: string): void {
    for (const path of this.#pathsInside(containerPath)) this.#byPath.delete(path);
    this.#sorted = null;
  }

  #pathsInside(containerPath: string): string[] {
    if (this.#byPath.size === 0) return [];
    this.#sorted ??= [...this.#byPath.keys()].toSorted(byCodeUnits);
    const sorted = this.#sorted;
    return [`${containerPath}.`, `${containerPath}[`].flatMap((prefix) => {
      const start = firstFrom(sorted, prefix);
      let end = start;
      while (sorted[end]?.startsWith(prefix)) end += 1;
      return sorted.slice(start, end);
    });
  }
}

function byCodeUnits(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

/** Index of the first text that is not before the given one. */
function firstFrom(sorted: readonly string[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
