import type { Violation } from "@workflow/errors";
import type { z } from "zod";

/** The number of problems that one answer lists, so that a refusal stays small. */
const VIOLATIONS_MAX = 50;

/** The first problems that zod found, in the form of `error.details` (D3). */
export function toViolations(error: z.ZodError): Violation[] {
  return error.issues
    .slice(0, VIOLATIONS_MAX)
    .map(({ path, message }) => ({ path: path.map(String), message }));
}

/**
 * Texts for zod's checks where a schema states none. They say what is expected and follow the
 * field's name.
 */
export function explainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type") {
    if (issue.input === undefined) return "is required";
    return `must be ${EXPECTED_TYPES[issue.expected] ?? issue.expected}`;
  }
  if (issue.code === "invalid_value") {
    return issue.input === undefined
      ? "is required"
      : `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
  }
  if (issue.code === "too_big") return `must be at most ${issue.maximum}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  return undefined;
}

const EXPECTED_TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "a boolean",
  object: "an object",
  record: "an object",
  array: "an array",
  date: "a timestamp",
};
