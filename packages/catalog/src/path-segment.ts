import { InvalidInputError } from "./invalid-input-error.ts";

/**
 * The value of an input as one segment of a path.
 *
 * @throws InvalidInputError for a value that a URL parser could read as something else
 */
export function encodeSegment(key: string, value: string): string {
  // A URL parser would resolve these as relative segments.
  if (value === "." || value === "..") throw new InvalidInputError(key, "must not be a dot");
  if (value === "") throw new InvalidInputError(key, "must not be empty");
  if (!value.isWellFormed()) throw new InvalidInputError(key, "must be well-formed Unicode");
  return encodeURIComponent(value);
}
