import type { CompiledStep } from "@workflow/definition";

/** Whether a step runs other steps inside. */
export function isContainer({ type }: CompiledStep): boolean {
  return type === "condition" || type === "parallel" || type === "loop";
}

/** Whether the step's due time is a wait of its own, rather than the pause before a retry. */
export function waitsByItself({ type }: CompiledStep): boolean {
  return type === "delay" || type === "approval";
}

/** How long one attempt of a step may take, waiting included; undefined when nothing limits it. */
export function timeLimitMs(step: CompiledStep): number | undefined {
  const ofAll = step.type === "parallel" ? step.totalTimeoutMs : undefined;
  if (step.timeoutMs === undefined || ofAll === undefined) return step.timeoutMs ?? ofAll;
  return Math.min(step.timeoutMs, ofAll);
}
