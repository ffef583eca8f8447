import { nestedBlocks } from "@workflow/definition";
import type { CompiledStep } from "@workflow/definition";
import { STEPS_MAX } from "../domain/run-limits.ts";

/**
 * How many steps surely begin when these do and none fails. Where the number is only known while they
 * run, the least is counted. A step with a condition counts alone, and of branches the shortest one
 * counts. A loop whose items come from a template counts as one. After a response that ends the run
 * nothing counts.
 */
export function countStepsAtLeast(steps: readonly CompiledStep[]): number {
  let count = 0;
  for (const step of steps) {
    count += 1;
    if (step.when !== undefined) continue;
    if (mayRespond([step])) break;
    count += countInside(step);
    if (count > STEPS_MAX) break;
  }
  return Math.min(count, STEPS_MAX + 1);
}

/** Whether a response may end the run in one of these steps. */
export function mayRespond(steps: readonly CompiledStep[]): boolean {
  return steps.some(
    (step) =>
      (step.type === "action" && step.action === "workflow.respond") ||
      nestedBlocks(step).some(mayRespond),
  );
}

function countInside(step: CompiledStep): number {
  switch (step.type) {
    case "condition":
      return Math.min(...nestedBlocks(step).map(countStepsAtLeast));
    case "loop":
      return timesOf(step.over) * countStepsAtLeast(step.steps);
    case "parallel":
      return countParallel(step);
    default:
      return 0;
  }
}

function countParallel({ work, strategy }: Extract<CompiledStep, { type: "parallel" }>): number {
  // The first branch that ends may end the others.
  if (strategy === "wait-any" || strategy === "fail-fast") return 0;
  if (work.kind === "forEach") return lengthOf(work.items) * countStepsAtLeast(work.steps);
  return work.branches.reduce((sum, { steps }) => sum + countStepsAtLeast(steps), 0);
}

type Over = Extract<CompiledStep, { type: "loop" }>["over"];

function timesOf(over: Over): number {
  if (over.kind === "items") return lengthOf(over.items);
  if (over.kind === "while" || over.count.kind !== "literal") return 0;
  const { value } = over.count;
  return typeof value === "number" ? value : 0;
}

/** The length of an array that is written out. Its items may be templates. */
function lengthOf(value: Extract<Over, { kind: "items" }>["items"]): number {
  if (value.kind === "array") return value.items.length;
  return value.kind === "literal" && Array.isArray(value.value) ? value.value.length : 0;
}
