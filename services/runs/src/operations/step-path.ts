import type { CompiledStep } from "@workflow/definition";

/** One step on the way down a path (D26). */
export interface StepPathPart {
  step: CompiledStep;
  /** The position of the step in its block, from 0. */
  index: number;
  /** The path as far as this step: `loop1[2].child`. */
  path: string;
  /** The part of the step in which the path goes on: iteration, item or branch; null at its end. */
  part: number | string | null;
}

/** The position of a step in a definition and a run, from the top down to the step itself. */
export type StepPath = readonly [StepPathPart, ...StepPathPart[]];

const LABEL = /^([A-Za-z0-9_-]{1,128})(?:\[(0|[1-9]\d{0,8})\])?$/;

/** Reads a path; null when the definition has no such step. */
export function parseStepPath(steps: readonly CompiledStep[], path: string): StepPath | null {
  const labels = path.split(".");
  const above: StepPathPart[] = [];
  let block = steps;
  let prefix = "";
  for (let at = 0; at < labels.length;) {
    const [, id = "", number] = LABEL.exec(labels[at++] ?? "") ?? [];
    const index = block.findIndex((step) => step.id === id);
    const step = block[index];
    if (step === undefined) return null;
    const stepPath = prefix + id;
    if (at === labels.length) {
      const last = { step, index, path: stepPath, part: null };
      return number === undefined ? toStepPath([...above, last]) : null;
    }
    const part = number === undefined ? (labels[at++] ?? "") : Number(number);
    const inside = blockOf(step, part);
    if (inside === null) return null;
    above.push({ step, index, path: stepPath, part });
    block = inside;
    prefix = prefixOf(stepPath, part);
  }
  return null;
}

/** The beginning of all paths inside a part of a step. */
export function prefixOf(path: string, part: number | string): string {
  return typeof part === "number" ? `${path}[${part}].` : `${path}.${part}.`;
}

/** The parts that a step has by its definition. For loops and items the first one stands for all. */
export function partsOf(step: CompiledStep): (number | string)[] {
  switch (step.type) {
    case "condition":
      return [...step.branches.map(({ id }) => id), "else"];
    case "loop":
      return [0];
    case "parallel":
      return step.work.kind === "forEach" ? [0] : step.work.branches.map(({ id }) => id);
    case "action":
    case "agent":
    case "approval":
    case "delay":
    case "email":
    case "transform":
    case "workflow":
      return [];
    default:
      return step satisfies never;
  }
}

/** The steps of one part of a step; null when it has no such part. */
export function blockOf(step: CompiledStep, part: number | string): readonly CompiledStep[] | null {
  switch (step.type) {
    case "condition":
      if (part === "else") return step.elseSteps;
      return step.branches.find(({ id }) => id === part)?.steps ?? null;
    case "loop":
      return typeof part === "number" ? step.steps : null;
    case "parallel":
      if (step.work.kind === "forEach") return typeof part === "number" ? step.work.steps : null;
      return step.work.branches.find(({ id }) => id === part)?.steps ?? null;
    case "action":
    case "agent":
    case "approval":
    case "delay":
    case "email":
    case "transform":
    case "workflow":
      return null;
    default:
      return step satisfies never;
  }
}

function toStepPath([first, ...rest]: StepPathPart[]): StepPath | null {
  return first === undefined ? null : [first, ...rest];
}
