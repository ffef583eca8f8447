import type { StepResult } from "@workflow/client";
import { duration, jsonLines, plain } from "../../output/output.ts";
import type { Output } from "../../output/output.ts";

/** A step for people: a line that sums it up, then its input, output and error. */
export function stepLines(out: Output, step: StepResult): string[] {
  const { path, type, status, durationMs, attempt, error, truncated } = step;
  const tries = attempt > 1 ? `  attempt ${attempt}` : "";
  return [
    `${out.status(status.padEnd(7).trimEnd())}  ${plain(path)}  ${type}  ${duration(durationMs)}${tries}`,
    ...(error === null ? [] : [`    error: ${plain(`${error.code}: ${error.message}`)}`]),
    ...indented("input", step.input),
    ...indented("output", step.output),
    ...(truncated === true ? ["    (cut; --step shows all of it)"] : []),
  ];
}

function indented(title: string, value: unknown): string[] {
  if (value === null || value === undefined) return [];
  return `${title}: ${jsonLines(value)}`.split("\n").map((line) => `    ${line}`);
}
