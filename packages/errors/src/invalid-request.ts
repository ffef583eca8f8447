import { AppError } from "./app-error.ts";
import type { Violation } from "./app-error.ts";

/** A key of the caller's own in a path may be very long. The message names as much of it as one can read. */
const SEGMENT_CHARS_MAX = 80;

/**
 * The BAD_REQUEST for a request of the wrong shape. The message tells the first wrong field and what would be
 * right, for readers who see the message only; `violations` has all. An empty path means the request as a whole.
 */
export function invalidRequest(violations: readonly Violation[]): AppError {
  const message = nameFirst("The request is not valid", violations);
  return new AppError("BAD_REQUEST", message, { violations });
}

/**
 * A sentence that continues with the first of the violations: `The request is not valid: name is required.`
 * The message of that violation is a predicate, such as `must be a string`.
 */
export function nameFirst(sentence: string, [first]: readonly Violation[]): string {
  if (first === undefined) return `${sentence}.`;
  return `${sentence}: ${pathText(first.path) || "it"} ${withStop(first.message)}`;
}

/**
 * The same for violations whose messages can be sentences of their own:
 * `The workflow definition is not valid at steps.0.config: Step "a" refers to …`
 */
export function nameFirstPlace(sentence: string, [first]: readonly Violation[]): string {
  if (first === undefined) return `${sentence}.`;
  const place = pathText(first.path);
  return `${sentence}${place === "" ? "" : ` at ${place}`}: ${withStop(first.message)}`;
}

function pathText(path: readonly string[]): string {
  return path.map(shorten).join(".");
}

function shorten(segment: string): string {
  if (segment.length <= SEGMENT_CHARS_MAX) return segment;
  return `${segment.slice(0, SEGMENT_CHARS_MAX).toWellFormed()}…`;
}

function withStop(message: string): string {
  return message.endsWith(".") ? message : `${message}.`;
}
