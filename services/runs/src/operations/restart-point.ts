import type { CompiledStep } from "@workflow/definition";
import { blockOf, parseStepPath, partsOf, prefixOf } from "./step-path.ts";
import type { StepPath } from "./step-path.ts";
import { endedSoundly } from "./reusable-results.ts";
import type { RecordedResult } from "./reusable-results.ts";

/**
 * The position where a restart begins. A path (D26) is taken as it is, if its iterations are recorded or
 * the next one. The id of a nested step means the first position where it was executed, or else could be.
 *
 * @param results in execution order
 * @returns null when there is no such step
 */
export function findRestartPath(
  steps: readonly CompiledStep[],
  results: readonly RecordedResult[],
  idOrPath: string,
): StepPath | null {
  // Ids have neither dots nor brackets, so no text is both an id and a nested path.
  if (/[.[]/.test(idOrPath)) {
    const position = parseStepPath(steps, idOrPath);
    return position !== null && isWithinReach(position, results) ? position : null;
  }
  for (const { path, stepId } of results) {
    const position = stepId === idOrPath ? parseStepPath(steps, path) : null;
    if (position !== null) return position;
  }
  const path = firstPathOf(steps, idOrPath, "");
  return path === null ? null : parseStepPath(steps, path);
}

/**
 * The position where a retry begins: the step that failed the run, or the first one without a result that
 * let the run go on.
 *
 * @param failedPath path of the failed step, when the run's error names one
 * @returns null when every step has ended well
 */
export function findRetryPath(
  steps: readonly CompiledStep[],
  results: readonly RecordedResult[],
  failedPath: string | null,
): StepPath | null {
  const failed = failedPath === null ? null : parseStepPath(steps, failedPath);
  const isRecorded = results.some(({ path, status }) => path === failedPath && status === "error");
  if (failed !== null && isRecorded) return failed;
  const path = firstUnfinished(steps, "", progressOf(steps, results));
  return path === null ? null : parseStepPath(steps, path);
}

interface Progress {
  /** Paths of the steps after which the run went on. */
  finished: ReadonlySet<string>;
  /** The parts of each step in which something was executed. */
  entered: ReadonlyMap<string, ReadonlySet<number | string>>;
}

function progressOf(steps: readonly CompiledStep[], results: readonly RecordedResult[]): Progress {
  const finished = new Set<string>();
  const entered = new Map<string, Set<number | string>>();
  for (const result of results) {
    const position = parseStepPath(steps, result.path);
    if (position === null) continue;
    if (endedSoundly(result, position)) finished.add(result.path);
    for (const { path, part } of position) {
      if (part === null) continue;
      const parts = entered.get(path) ?? new Set();
      entered.set(path, parts.add(part));
    }
  }
  return { finished, entered };
}

function firstUnfinished(
  block: readonly CompiledStep[],
  prefix: string,
  progress: Progress,
): string | null {
  for (const step of block) {
    const path = prefix + step.id;
    if (!progress.finished.has(path)) return insideOf(step, path, progress) ?? path;
  }
  return null;
}

/**
 * The first unfinished position inside an unfinished step; null when there is none, or the step never
 * began.
 */
function insideOf(step: CompiledStep, path: string, progress: Progress): string | null {
  const entered = progress.entered.get(path);
  if (entered === undefined) return null;
  if (step.type === "loop") {
    const last = highestOf(entered);
    return (
      firstUnfinished(step.steps, prefixOf(path, last), progress) ??
      firstUnfinished(step.steps, prefixOf(path, last + 1), progress)
    );
  }
  const branches = partsOf(step);
  const parts =
    step.type === "parallel" && step.work.kind === "forEach"
      ? Array.from({ length: highestOf(entered) + 1 }, (_, item) => item)
      : branches.filter((part) => step.type === "parallel" || entered.has(part));
  for (const part of parts) {
    const found = firstUnfinished(blockOf(step, part) ?? [], prefixOf(path, part), progress);
    if (found !== null) return found;
  }
  return null;
}

function highestOf(parts: Iterable<number | string>): number {
  let highest = -1;
  for (const part of parts) if (typeof part === "number" && part > highest) highest = part;
  return highest;
}

/** Whether every iteration or item of a path was executed, or is the next one after those. */
function isWithinReach(position: StepPath, results: readonly RecordedResult[]): boolean {
  return position.every(({ path, part }) => {
    if (typeof part !== "number" || part === 0) return true;
    const before = prefixOf(path, part - 1);
    const here = prefixOf(path, part);
    return results.some((each) => each.path.startsWith(before) || each.path.startsWith(here));
  });
}

function firstPathOf(block: readonly CompiledStep[], id: string, prefix: string): string | null {
  for (const step of block) {
    const path = prefix + step.id;
    if (step.id === id) return path;
    for (const part of partsOf(step)) {
      const found = firstPathOf(blockOf(step, part) ?? [], id, prefixOf(path, part));
      if (found !== null) return found;
    }
  }
  return null;
}
