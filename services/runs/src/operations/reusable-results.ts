import type { CompiledStep } from "@workflow/definition";
import { parseStepPath } from "./step-path.ts";
import type { StepPath } from "./step-path.ts";

/** The parts of a step result that decide about its reuse. */
export interface RecordedResult {
  path: string;
  stepId: string;
  status: "success" | "error" | "skipped";
  errorCode: string | null;
}

/** The code of a step that was given up because other branches had decided its parallel step. */
const CANCELLED = "CANCELLED";

/**
 * The paths of the results that a run takes over when it restarts (D27). These ended well, or with an
 * error that does not count, and their steps come before the restart's. Where two paths part, an earlier
 * step of the block or an earlier iteration of the loop comes before. Branches, and items of a parallel
 * step, are independent of each other. The containers of the restart's step and the steps inside it are
 * executed again.
 *
 * @param restart null: only what did not end well is executed again
 */
export function reusableResults(
  steps: readonly CompiledStep[],
  results: readonly RecordedResult[],
  restart: StepPath | null,
): string[] {
  const before = results.flatMap((result) => {
    const position = parseStepPath(steps, result.path);
    if (position === null || result.errorCode === CANCELLED) return [];
    return restart === null || isBefore(position, restart) ? [{ result, position }] : [];
  });
  const sound = new Set(
    before
      .filter(({ result, position }) => endedSoundly(result, position))
      .map(({ result }) => result.path),
  );
  // A failure inside a step that went on is a part of that step's result.
  return before
    .filter(({ position }) => position.some(({ path }) => sound.has(path)))
    .map(({ result }) => result.path);
}

/** Whether the run could go on after a result. */
export function endedSoundly(result: RecordedResult, position: StepPath): boolean {
  if (result.errorCode === CANCELLED) return false;
  return result.status !== "error" || position.at(-1)?.step.onError === "continue";
}

function isBefore(position: StepPath, restart: StepPath): boolean {
  for (const [depth, { step, index, part }] of position.entries()) {
    const other = restart[depth];
    if (other === undefined) return false;
    if (step.id !== other.step.id) return index < other.index;
    // The step itself, one that encloses it, or one inside it.
    if (part === null || other.part === null) return false;
    if (part === other.part) continue;
    if (step.type !== "loop") return true;
    return typeof part === "number" && typeof other.part === "number" && part < other.part;
  }
  return false;
}
