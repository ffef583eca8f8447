import { secretKeyProblem, secretValueProblem } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { z } from "zod";

/**
 * Anything goes here, a missing field included: `requireFields` checks them, because what is wrong
 * with these is a VALIDATION_ERROR (D3).
 */
export const secretKey = z
  .unknown()
  .optional()
  .describe("Required. Upper snake case that starts with a letter, at most 64 characters.");
export const secretValue = z.unknown().optional().describe("Required. 1 to 8,192 characters.");

const PROBLEM_OF = { key: secretKeyProblem, value: secretValueProblem };

/**
 * The fields of a body as texts. Throws VALIDATION_ERROR with every problem; neither message nor
 * details quote a value.
 */
export function requireFields<const Field extends keyof typeof PROBLEM_OF>(
  body: Readonly<Partial<Record<Field, unknown>>>,
  fields: readonly Field[],
): Record<Field, string>;
export function requireFields(
  body: Readonly<Record<string, unknown>>,
  fields: readonly (keyof typeof PROBLEM_OF)[],
): Record<string, string> {
  const violations: Violation[] = [];
  const texts: Record<string, string> = {};
  for (const field of fields) {
    const value = body[field];
    const message = PROBLEM_OF[field](value);
    if (message !== null) violations.push({ path: [field], message });
    else if (typeof value === "string") texts[field] = value;
  }
  const [first] = violations;
  if (first === undefined) return texts;
  const text = `The secret is not valid: ${first.path.join(".")} ${first.message}.`;
  throw new AppError("VALIDATION_ERROR", text, { violations });
}
