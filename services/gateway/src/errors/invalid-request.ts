import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";

/** The BAD_REQUEST that names every wrong field; an empty path means the request as a whole. */
export function invalidRequest(violations: readonly Violation[]): AppError {
  const first = violations[0];
  const text = first === undefined ? "" : `: ${first.path.join(".") || "it"} ${first.message}`;
  return new AppError("BAD_REQUEST", `The request is not valid${text}.`, { violations });
}
