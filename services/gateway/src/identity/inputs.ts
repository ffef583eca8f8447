import { AppError } from "@workflow/errors";
import { z } from "zod";
import { ROLES } from "../domain/roles.ts";
import { SCOPES } from "../domain/scopes.ts";
import { toViolations } from "../errors/violations.ts";

const PASSWORD_MIN = 8;
const PASSWORD_MAX = 256;

/** A name of a company, a user or a key. */
export const nameInput = z
  .string()
  .trim()
  .refine((name) => name !== "" && Array.from(name).length <= 255, "must have 1 to 255 characters");

/** An e-mail address, brought into lower case. */
export const emailInput = z
  .string()
  .trim()
  .toLowerCase()
  .max(254, "must have at most 254 characters")
  .pipe(z.email("must be an e-mail address"));

/**
 * A new password, counted in characters as they are hashed. Nothing else is asked of it, as NIST SP
 * 800-63B advises; the upper bound keeps hashing cheap.
 */
export const passwordInput = z.string().refine((password) => {
  const { length } = Array.from(password.normalize("NFKC"));
  return length >= PASSWORD_MIN && length <= PASSWORD_MAX;
}, `must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`);

/** A role in a company. */
export const roleInput = z.enum(ROLES, `must be one of ${ROLES.join(", ")}`);

/** Scopes of a new key, without repetition. */
export const scopesInput = z
  .array(z.enum(SCOPES, `must be one of ${SCOPES.join(", ")}`))
  .min(1, "must name at least one scope")
  .transform((scopes) => [...new Set(scopes)]);

/**
 * Reads an input.
 *
 * @throws AppError BAD_REQUEST with every problem
 */
export function readInput<S extends z.ZodType>(schema: S, input: z.input<S>): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const violations = toViolations(result.error);
  const text = violations.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
  throw new AppError("BAD_REQUEST", `Invalid input: ${text}.`, { violations });
}
