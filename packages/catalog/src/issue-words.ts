import type { z } from "zod";

/*
 * Describes problems of values in words for the author of a workflow. Activation and execution use the same
 * words.
 */

/** A problem and the path of its value below the parsed one. */
export interface IssueProblem {
  path: string[];
  message: string;
}

/** The kind of a value, in words for a message: "a string", "null", "an array". */
export function describeKind(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/**
 * The sentence for one zod issue. Every parse gets this function. A schema's own message takes precedence.
 */
function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type") {
    if (issue.expected === "nonoptional") return "is required";
    const expected = expectedWords(issue.expected);
    if (issue.input === undefined) return `is required and must be ${expected}`;
    // A fraction is a wrong number, not a value of another kind.
    if (typeof issue.input === "number" && issue.expected === "int") return `must be ${expected}`;
    return `must be ${expected}, not ${describeKind(issue.input)}`;
  }
  if (issue.code === "invalid_value") {
    return `must be ${oneOf(issue.values.map((value) => JSON.stringify(value)))}`;
  }
  if (issue.code === "too_small") return sizeMessage("at least", issue.origin, issue.minimum);
  if (issue.code === "too_big") return sizeMessage("at most", issue.origin, issue.maximum);
  return undefined;
}

/** The problems of one value that get words. No answer contains the rest. */
const WORDED_MAX = 200;

/**
 * Creates `issueMessage` for one parse, which may find a problem with each of a hundred thousand items.
 * Problems over the limit get no words.
 */
export function boundedMessages(): (issue: z.core.$ZodRawIssue) => string | undefined {
  let worded = 0;
  return (issue) => {
    // zod's own message marks the problem of a union without a message, so it stays.
    if (issue.code === "invalid_union") return undefined;
    worded += 1;
    return worded > WORDED_MAX ? "is not valid" : issueMessage(issue);
  };
}

/** The problems of a parse that are considered. */
export function firstIssues({ issues }: z.ZodError): z.core.$ZodIssue[] {
  return issues.slice(0, WORDED_MAX);
}

/** zod's own message of a union. */
const UNION_MESSAGE = "Invalid input";

/**
 * The problems of a failed parse, one for each path. A union with a message reports that message. Another
 * union reports the problem of its nearest member.
 *
 * @param endings messages of unions that are endings: they follow the problem of the first member
 */
export function issueProblems(
  issues: readonly z.core.$ZodIssue[],
  endings: readonly string[] = [],
): IssueProblem[] {
  return issues.flatMap((issue) => flatten(issue, [], endings));
}

function flatten(
  issue: z.core.$ZodIssue,
  base: readonly string[],
  endings: readonly string[],
): IssueProblem[] {
  const path = [...base, ...issue.path.map(String)];
  const { message: ending } = issue;
  const isEnding = endings.includes(ending);
  const speaking = isEnding || ending === UNION_MESSAGE;
  const plain = issue.code === "invalid_union" && speaking ? closestMember(issue) : undefined;
  if (plain === undefined) return [{ path, message: issue.message }];
  const problems = plain.flatMap((inner) => flatten(inner, path, endings));
  if (!isEnding) return problems;
  return problems.map(({ path: where, message }) =>
    where.length > path.length
      ? { path: where, message }
      : { path: where, message: `${message}${ending}` },
  );
}

/** The plain form. For a union without a message, the member that matches the kind of the value. */
function closestMember({ errors, message }: z.core.$ZodIssueInvalidUnion) {
  if (message !== UNION_MESSAGE) return errors[0];
  const isOtherKind = (issue: z.core.$ZodIssue) =>
    issue.code === "invalid_type" && issue.path.length === 0;
  return errors.find((issues) => !issues.some(isOtherKind)) ?? errors[0];
}

/** "a", "b" or "c". */
export function oneOf(options: readonly string[], word: "or" | "and" = "or"): string {
  const last = options.at(-1) ?? "";
  return options.length < 2 ? last : `${options.slice(0, -1).join(", ")} ${word} ${last}`;
}

function expectedWords(expected: string): string {
  if (expected === "int") return "a whole number";
  if (expected === "record" || expected === "object") return "an object";
  return expected === "array" ? "an array" : `a ${expected}`;
}

function sizeMessage(words: string, origin: string, limit: number | bigint): string {
  const unit = { string: "character", array: "item" }[origin];
  if (unit === undefined) return `must be ${words} ${limit}`;
  return `must have ${words} ${limit} ${unit}${Number(limit) === 1 ? "" : "s"}`;
}
