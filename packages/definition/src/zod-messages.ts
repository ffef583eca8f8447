import type { Violation } from "@workflow/errors";
import { issueProblems } from "@workflow/catalog";
import { z } from "zod";
import { parseTemplateText } from "./template-parser.ts";

/**
 * A schema for a value, other than a string, that a template may also give. Only a string that is exactly one
 * template keeps the type of its value (D19). The step checks that value.
 */
export function templatable<T extends z.ZodType>(schema: T) {
  return z.union([schema, oneTemplate], {
    error: ({ input }) => orTemplate(input),
  });
}

/** A schema like `templatable`, for strings with a format: templates may make up a part of the string. */
export function templatableText<T extends z.ZodType>(schema: T) {
  return z.union([schema, textWithTemplate], { error: OR_TEMPLATE });
}

/** Both refinements abort. Otherwise zod takes a string of a wrong form for the better matching member. */
const oneTemplate = z
  .string()
  .refine(isOneTemplate, { abort: true })
  .meta({ description: "A template" });
const textWithTemplate = z
  .string()
  .regex(/\{\{/, { abort: true })
  .meta({ description: "A template" });

/** The end of a message about a value: a template is allowed, too. */
export function orTemplate(value: unknown): string {
  return hasTemplate(value) ? OR_ONE_TEMPLATE : OR_TEMPLATE;
}

/** Whether a value is a text with a template in it. */
export function hasTemplate(value: unknown): value is string {
  return typeof value === "string" && value.includes("{{");
}

/** Whether a value is exactly one template. An invalid template counts; the scan for templates reports it. */
export function isOneTemplate(text: unknown): boolean {
  if (!hasTemplate(text)) return false;
  const { parts, problems } = parseTemplateText(text);
  return problems.length > 0 || (parts.length === 1 && typeof parts[0] !== "string");
}

/**
 * The violations of a failed parse. A union with a message reports that message. Another union reports its
 * plain form, by convention the first member.
 */
export function violationsOf(issues: readonly z.core.$ZodIssue[]): Violation[] {
  return issueProblems(issues, [OR_TEMPLATE, OR_ONE_TEMPLATE]);
}

/** Messages that mark the unions of `templatable`; they follow the problem of the plain form. */
const OR_TEMPLATE = " (or a template such as {{input.value}})";
const OR_ONE_TEMPLATE = " (or one template with nothing beside it, such as {{input.value}})";
