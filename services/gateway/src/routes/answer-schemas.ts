import { z } from "zod";

/**
 * The schemas of answers. They are strict objects: a member without a description is a defect,
 * which the tests find.
 */

/** A point in time as answers show it: UTC, with milliseconds. */
export const timeText = z.iso
  .datetime({ precision: 3 })
  .describe("ISO 8601 in UTC, with milliseconds.")
  .meta({
    examples: ["2026-01-31T08:00:00.000Z"],
    // The format says enough; the whole pattern would be long.
    override: { pattern: String.raw`\.\d{3}Z$` },
  });

/** The id of an object that has no prefix (D1). */
export const uuidText = z.uuid().meta({
  examples: ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a"],
  override: ({ jsonSchema }) => {
    delete jsonSchema.pattern;
  },
});

/** An id with a prefix: 26 characters of Crockford's base 32 follow it, which sort by time (D1). */
export function prefixedId(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}[0-9a-hjkmnp-tv-z]{26}$`))
    .meta({ examples: [`${prefix}01kg9d1kzcexw9f1c3f4r7m2qa`] });
}

/** The names in a table of codes, as an enum that cannot differ from what is written. */
export function namesOf<Name extends string>(codes: Readonly<Record<Name, unknown>>) {
  const names: Name[] = [];
  for (const name in codes) names.push(name);
  return z.enum(names);
}

/** A count or a duration: 0 or more. */
export const wholeNumber = z.int().min(0);

/** JSON of any kind, from a caller or a step. */
export const anyJson = z.unknown();

/** A JSON object of any members. */
export const anyObject = z.record(z.string(), z.unknown());

/** `meta` of a keyset-paged list (D6). */
export const pageMetaSchema = z
  .strictObject({
    cursor: z
      .string()
      .nullable()
      .describe("Sent as `cursor` for the next page; null on the last one.")
      .meta({ examples: ["eyJ2IjoxfQ"] }),
    hasMore: z.boolean().describe("Whether there is a next page."),
  })
  .meta({ id: "PageMeta", description: "Where a list goes on." });

/** The answer to a deletion. */
export const deletedSchema = z
  .strictObject({ deleted: z.literal(true).describe("Always true.") })
  .meta({ id: "Deleted", description: "The object is no more, or was archived." });
