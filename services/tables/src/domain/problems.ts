import { invalidRequest } from "@workflow/errors";
import type { Violation } from "@workflow/errors";

/**
 * The most problems in one answer. A broken client breaks everything in the same way, so more would not help.
 */
const PROBLEMS_MAX = 50;

/** The problems of one request. */
export class Problems {
  readonly #violations: Violation[] = [];

  /** The path of a field at which problems can be reported. */
  at(...path: readonly string[]): FieldPath {
    return new FieldPath(this.#violations, path);
  }

  /**
   * Throws if any problem was reported.
   * @throws AppError BAD_REQUEST with at most 50 violations
   */
  throwIfAny(): void {
    if (this.#violations.length === 0) return;
    throw invalidRequest(this.#violations);
  }
}

/** The path of a field in a request. Problems of the field are reported here. */
export class FieldPath {
  readonly #violations: Violation[];
  readonly #path: readonly string[];

  constructor(violations: Violation[], path: readonly string[]) {
    this.#violations = violations;
    this.#path = path;
  }

  /** The path of a field inside this one. */
  at(...path: readonly string[]): FieldPath {
    return new FieldPath(this.#violations, [...this.#path, ...path]);
  }

  /** Reports a problem of this field. The message says what would be right. */
  report(message: string): void {
    if (this.#violations.length >= PROBLEMS_MAX) return;
    this.#violations.push({ path: [...this.#path], message });
  }
}
