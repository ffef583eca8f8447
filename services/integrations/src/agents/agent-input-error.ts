import type { Violation } from "@workflow/errors";

/** The agent does not take an input. Paths begin with `input`, `userMessage` or `overrides`. */
export class AgentInputError extends Error {
  override readonly name = "AgentInputError";
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    super(`The agent's input is not valid: ${violations.map(toText).join("; ")}.`);
    this.violations = violations;
  }
}

function toText({ path, message }: Violation): string {
  return `${path.join(".")} ${message}`;
}
