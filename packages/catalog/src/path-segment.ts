import { InvalidInputError } from "./invalid-input-error.ts";

/**
 * The value of an input as one segment of a path.
 *
 * @throws InvalidInputError when it could be taken for anything else
 */
export function encodeSegment(key: string, value: string): string {
  // URL would take these for steps within the path.
  if (value === "." || value === "..") throw new InvalidInputError(key, "must not be a dot");
  if (value === "") throw new InvalidInputError(key, "must not be empty");
  if (!value.isWellFormed()) throw new InvalidInputError(key, "must be well-formed Unicode");
  return encodeURIComponent(value);
}
