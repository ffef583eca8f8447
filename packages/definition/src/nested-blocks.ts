import type { CompiledStep } from "./compiled-definition.ts";

/** The lists of steps inside a compiled step: branches, the body of a loop; empty for other steps. */
export function nestedBlocks(step: CompiledStep): readonly (readonly CompiledStep[])[] {
  switch (step.type) {
    case "condition":
      return [...step.branches.map((branch) => branch.steps), step.elseSteps];
    case "loop":
      return [step.steps];
    case "parallel":
      return step.work.kind === "forEach"
        ? [step.work.steps]
        : step.work.branches.map((branch) => branch.steps);
    default:
      return [];
  }
}
