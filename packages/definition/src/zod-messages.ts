import type { Violation } from "@workflow/errors";
import { z } from "zod";
import { describeKind } from "./json.ts";
import { parseTemplateText } from "./template-parser.ts";

/**
 * A schema for a value, other than a string, that may also be given by a template. Only a string that
 * is one template and nothing else keeps the type of what it brings (D19), which is checked where the
 * step runs.
 */
export function templatable<T extends z.ZodType>(schema: T) {
  return z.union([schema, oneTemplate], {
    error: ({ input }) => (hasTemplate(input) ? OR_ONE_TEMPLATE : OR_TEMPLATE),
  });
}

/** As `templatable`, for strings of a certain form: templates may make up a part of one. */
export function templatableText<T extends z.ZodType>(schema: T) {
  return z.union([schema, textWithTemplate], { error: OR_TEMPLATE });
}

/** These abort: zod otherwise takes a string that does not fit for the better fitting member. */
const oneTemplate = z
  .string()
  .refine(isOneTemplate, { abort: true })
  .meta({ description: "A template" });
const textWithTemplate = z
  .string()
  .regex(/\{\{/, { abort: true })
  .meta({ description: "A template" });

function hasTemplate(value: unknown): boolean {
  return typeof value === "string" && value.includes("{{");
}

/** A template that can't be read counts: what is wrong with it is told where templates are looked for. */
function isOneTemplate(text: string): boolean {
  if (!hasTemplate(text)) return false;
  const { parts, problems } = parseTemplateText(text);
  return problems.length > 0 || (parts.length === 1 && typeof parts[0] !== "string");
}

/** The sentence for one zod issue; handed to every parse, a schema's own message goes first. */
export function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type") {
    if (issue.expected === "nonoptional") return "is required";
    const expected = expectedWords(issue.expected);
    if (issue.input === undefined) return `is required and must be ${expected}`;
    // A number that is not a whole one is wrong in itself, not of another kind.
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

/**
 * The violations of a failed parse. A union speaks for itself when it was given a message; otherwise
 * its first member does, which by convention is the plain form.
 */
export function violationsOf(error: z.ZodError): Violation[] {
  return error.issues.flatMap((issue) => flatten(issue, []));
}

/** Mark the unions of `templatable`, and follow what is wrong with their plain form. */
const OR_TEMPLATE = " (or a template such as {{input.value}})";
const OR_ONE_TEMPLATE = " (or one template with nothing beside it, such as {{input.value}})";
/** zod's own message of a union. */
const UNION_MESSAGE = "Invalid input";

function flatten(issue: z.core.$ZodIssue, base: readonly string[]): Violation[] {
  const path = [...base, ...issue.path.map(String)];
  const { message: ending } = issue;
  const isTemplatable = ending === OR_TEMPLATE || ending === OR_ONE_TEMPLATE;
  const speaking = isTemplatable || ending === UNION_MESSAGE;
  const plain = issue.code === "invalid_union" && speaking ? closestMember(issue) : undefined;
  if (plain === undefined) return [{ path, message: issue.message }];
  const violations = plain.flatMap((inner) => flatten(inner, path));
  if (!isTemplatable) return violations;
  return violations.map(({ path: where, message }) =>
    where.length > path.length
      ? { path: where, message }
      : { path: where, message: `${message}${ending}` },
  );
}

/** The plain form; of a union without a message of its own the member that takes such a value. */
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
