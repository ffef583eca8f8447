import type { Violation } from "@workflow/errors";

/** Thrown by the compilers, which expect a definition that `validateDefinition` has accepted. */
export class InvalidDefinitionError extends Error {
  override readonly name = "InvalidDefinitionError";
  readonly violations: readonly Violation[];

  constructor(violations: readonly Violation[]) {
    const [first] = violations;
    super(
      first === undefined
        ? "The definition is not valid."
        : `The definition is not valid at ${first.path.join(".") || "its root"}: ${first.message}`,
    );
    this.violations = violations;
  }
}
