import type { EvaluatedValue } from "@workflow/definition";
import type { Execution } from "./execution.ts";

/**
 * Whether a resolved config holds a secret: one that a template names, or one that came with another
 * value such as the item of a loop.
 */
export function carriesSecret({ scrubber }: Execution, { value, masked }: EvaluatedValue): boolean {
  return masked !== value || (scrubber !== null && scrubber.json(value) !== value);
}
