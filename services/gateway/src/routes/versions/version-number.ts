import { z } from "zod";

/** The number of a version in a query string. Whether there is such a version is not its business. */
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
 * The number that a path segment or a parameter names; 0, which no version has, for what names none
 * (D1).
 */
export function toVersion(text: string): number {
  const version = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  return version < 2 ** 31 ? version : 0;
}
