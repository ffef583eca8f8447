import type { Violation } from "@workflow/errors";
import type { Deployment } from "./deployment-cache.ts";

/**
 * The violations of the workflow's inputSchema in an input.
 *
 * @throws Error when this release cannot execute the deployment
 */
export function findInputViolations(
  { compiled }: Deployment,
  inputValue: unknown,
): readonly Violation[] {
  if (compiled === null) throw new Error("the deployment does not compile");
  return compiled.inputSchema?.validate(inputValue) ?? [];
}
