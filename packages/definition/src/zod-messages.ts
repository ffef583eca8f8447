import type { Violation } from "@workflow/errors";
import { issueProblems } from "@workflow/catalog";
import { z } from "zod";
import { parseTemplateText } from "./template-parser.ts";

/**
 * A schema for a value, other than a string, that may also be given by a template. Only a string that
 * is one template and nothing else keeps the type of what it brings (D19), which is checked where the
 * step runs.
 */
export function templatable<T extends z.ZodType>(schema: T) {
  return z.union([schema, oneTemplate], {
    error: ({ input }) => orTemplate(input),
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

/** What the message about a value adds: that a template may stand for it. */
export function orTemplate(value: unknown): string {
  return hasTemplate(value) ? OR_ONE_TEMPLATE : OR_TEMPLATE;
}

/** Whether a value is a text with a template in it. */
export function hasTemplate(value: unknown): value is string {
  return typeof value === "string" && value.includes("{{");
}

/**
 * Whether a value is one template and nothing else. One that can't be read counts: what is wrong with it is
 * told where templates are looked for.
 */
export function isOneTemplate(text: unknown): boolean {
  if (!hasTemplate(text)) return false;
  const { parts, problems } = parseTemplateText(text);
  return problems.length > 0 || (parts.length === 1 && typeof parts[0] !== "string");
}

/**
 * The violations of a failed parse. A union speaks for itself when it was given a message; otherwise its plain
 * form does, which by convention is the first member.
 */
export function violationsOf(issues: readonly z.core.$ZodIssue[]): Violation[] {
  return issueProblems(issues, [OR_TEMPLATE, OR_ONE_TEMPLATE]);
}

/** Mark the unions of `templatable`, and follow what is wrong with their plain form. */
const OR_TEMPLATE = " (or a template such as {{input.value}})";
const OR_ONE_TEMPLATE = " (or one template with nothing beside it, such as {{input.value}})";
