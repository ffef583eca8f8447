import type { z } from "zod";
import { InvalidDefinitionError } from "./invalid-definition-error.ts";
import { Problems } from "./problems.ts";

/**
 * Parses a part of a definition that is about to be compiled.
 *
 * @throws InvalidDefinitionError for a part that was never validated
 */
export function parseOrThrow<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T {
  const problems = new Problems();
  const parsed = problems.parse(schema, value, path);
  if (parsed === undefined) throw new InvalidDefinitionError(problems.violations);
  return parsed;
}
