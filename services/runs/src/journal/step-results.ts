import type { ExecutionError } from "../domain/execution-error.ts";
import type { StepOutput } from "./step-outputs.ts";

/** The end of a step, as far as the interpreter needs it. */
export interface StepResult {
  path: string;
  stepId: string;
  status: "success" | "error" | "skipped";
  output: StepOutput;
  error: ExecutionError | null;
  /** Bytes of the stored input and output together (D56). */
  bytes: number;
}

/** A part of a container: a branch by its id, an iteration or item by its number. */
export type Part = string | number;

/** The part of a container in which a path lies; null when it lies outside. */
export function partInside(path: string, containerPath: string): Part | null {
  if (!path.startsWith(containerPath)) return null;
  const rest = path.slice(containerPath.length);
  const index = /^\[(\d+)\]/.exec(rest)?.[1];
  if (index !== undefined) return Number(index);
  return rest.startsWith(".") ? (rest.slice(1).split(".", 1)[0] ?? "") : null;
}

/** Whether a path lies inside a container's. */
export function isInside(path: string, containerPath: string): boolean {
  if (!path.startsWith(containerPath)) return false;
  const next = path[containerPath.length];
  return next === "." || next === "[";
}

/** A node in the tree of paths: `loop[2].child` is three nodes, `loop`, `[2]` and `child`. */
interface PathNode {
  result: StepResult | undefined;
  parts: Map<string, PathNode> | undefined;
}

/**
 * The results of a run's steps, of earlier executions and of this one. They form the tree of their paths.
 * So the results inside a container are found without looking at the rest: each of thousands of
 * containers may begin anew.
 */
export class StepResults {
  readonly #byPath = new Map<string, StepResult>();
  readonly #root: PathNode = { result: undefined, parts: undefined };
  #bytes = 0;

  /** @param results in the order in which the steps began */
  constructor(results: Iterable<StepResult> = []) {
    for (const result of results) this.add(result);
  }

  /** The number of results. */
  get count(): number {
    return this.#byPath.size;
  }

  /** Bytes of their inputs and outputs together. */
  get bytes(): number {
    return this.#bytes;
  }

  add(result: StepResult): void {
    let node = this.#root;
    for (const name of namesOf(result.path)) {
      node.parts ??= new Map();
      let next = node.parts.get(name);
      if (next === undefined)
        node.parts.set(name, (next = { result: undefined, parts: undefined }));
      node = next;
    }
    this.#bytes += result.bytes - (node.result?.bytes ?? 0);
    node.result = result;
    this.#byPath.set(result.path, result);
  }

  find(path: string): StepResult | undefined {
    return this.#byPath.get(path);
  }

  /** The result of a step among these that succeeded, if there is any. */
  findSuccessOf(stepIds: ReadonlySet<string>): StepResult | undefined {
    if (stepIds.size === 0) return undefined;
    for (const result of this.#byPath.values()) {
      if (result.status === "success" && stepIds.has(result.stepId)) return result;
    }
    return undefined;
  }

  /** The results inside a container. */
  inside(containerPath: string): readonly StepResult[] {
    const results: StepResult[] = [];
    const container = this.#nodeOf(containerPath);
    if (container !== undefined) collectBelow(container, results);
    return results;
  }

  /** Drops the results inside the chosen parts of a container, and returns them. */
  forgetParts(containerPath: string, isMeant: (part: Part) => boolean): StepResult[] {
    const container = this.#nodeOf(containerPath);
    const forgotten: StepResult[] = [];
    for (const [name, node] of container?.parts ?? []) {
      if (!isMeant(name.startsWith("[") ? Number(name.slice(1, -1)) : name)) continue;
      collect(node, forgotten);
      container?.parts?.delete(name);
    }
    this.#drop(forgotten);
    return forgotten;
  }

  /** Drops the results inside a container. */
  forgetInside(containerPath: string): void {
    const container = this.#nodeOf(containerPath);
    if (container === undefined) return;
    const forgotten: StepResult[] = [];
    collectBelow(container, forgotten);
    container.parts = undefined;
    this.#drop(forgotten);
  }

  [Symbol.iterator](): Iterator<StepResult> {
    return this.#byPath.values();
  }

  #drop(results: readonly StepResult[]): void {
    for (const { path, bytes } of results) {
      this.#byPath.delete(path);
      this.#bytes -= bytes;
    }
  }

  #nodeOf(path: string): PathNode | undefined {
    let node: PathNode | undefined = this.#root;
    for (const name of namesOf(path)) node = node?.parts?.get(name);
    return node;
  }
}

function namesOf(path: string): string[] {
  return path.match(/\[\d+\]|[^.[]+/g) ?? [];
}

function collectBelow({ parts }: PathNode, results: StepResult[]): void {
  for (const node of parts?.values() ?? []) collect(node, results);
}

function collect(node: PathNode, results: StepResult[]): void {
  if (node.result !== undefined) results.push(node.result);
  collectBelow(node, results);
}
