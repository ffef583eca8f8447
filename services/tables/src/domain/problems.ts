import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";

/** As many as a caller is told at once: a broken client breaks everything in the same way. */
const PROBLEMS_MAX = 50;

/** The BAD_REQUEST for a request whose shape is wrong. */
export function badRequest(violations: readonly Violation[]): AppError {
  return new AppError("BAD_REQUEST", "The request is not valid.", { violations });
}

/** What is wrong with one request. */
export class Problems {
  readonly #violations: Violation[] = [];

  /** The path of a field, at which problems can be reported. */
  at(...path: readonly string[]): FieldPath {
    return new FieldPath(this.#violations, path);
  }

  /** @throws AppError BAD_REQUEST with what was reported, at most 50 violations, if anything was */
  throwIfAny(): void {
    if (this.#violations.length === 0) return;
    throw badRequest(this.#violations);
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

  /** Says what would be right here. */
  report(message: string): void {
    if (this.#violations.length >= PROBLEMS_MAX) return;
    this.#violations.push({ path: [...this.#path], message });
  }
}
