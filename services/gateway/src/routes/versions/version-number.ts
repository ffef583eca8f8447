import { z } from "zod";

/** A version number in a query string. The workflows service decides whether the version exists. */
export const versionNumber = z
  .string()
  .regex(/^-?\d{1,15}$/, "must be an integer")
  .transform((text) => toVersion(text))
  .meta({
    examples: [1],
    override: ({ jsonSchema }) => {
      delete jsonSchema.pattern;
      jsonSchema.type = "integer";
    },
  });

/**
 * Parses a version number from a path segment or a parameter; 0, which no version has, for any other
 * text (D1).
 */
export function toVersion(text: string): number {
  const version = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  return version < 2 ** 31 ? version : 0;
}
