import { isStorableTime } from "@workflow/rpc";
import { z } from "zod";

/** A whole number in a query string, in plain digits. The description shows an integer. */
export function queryInteger(bounds: { min: number; max: number; otherwise: number }) {
  const { min, max, otherwise } = bounds;
  const message = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.int().min(min, message).max(max, message))
    .default(otherwise)
    .meta({
      override: ({ jsonSchema }) => {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, {
          type: "integer",
          minimum: min,
          maximum: max,
          default: otherwise,
        });
      },
    });
}

/** A boolean in a query string, written as `true` or `false`. The description shows a boolean. */
export function queryBoolean(otherwise: boolean) {
  return z
    .enum(["true", "false"], "must be true or false")
    .default(otherwise ? "true" : "false")
    .transform((text) => text === "true")
    .meta({
      override: ({ jsonSchema }) => {
        delete jsonSchema.enum;
        Object.assign(jsonSchema, { type: "boolean", default: otherwise });
      },
    });
}

/** The number of items of a page. */
export function pageLimit(bounds: { max: number; otherwise: number }) {
  return queryInteger({ min: 1, ...bounds }).describe(
    `How many items a page has at most, 1 to ${bounds.max}.`,
  );
}

/** The parameters of every keyset-paged list: 1 to 100 items, 50 by default. */
export const pageFields = {
  limit: pageLimit({ max: 100, otherwise: 50 }),
  cursor: z
    .string()
    .default("")
    .describe(
      "`meta.cursor` of the page before, sent back with the same filters; none for the first.",
    ),
};

/** A point in time, ISO 8601 with a zone, of a year that Postgres writes with four digits. */
export const timestamp = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 timestamp such as 2026-01-31T08:00:00Z" })
  .meta({
    examples: ["2026-01-31T08:00:00Z"],
    // The format says enough; the pattern would be long.
    override: ({ jsonSchema }) => {
      delete jsonSchema.pattern;
    },
  })
  .transform((text) => new Date(text))
  // A zone can move the last days of 9999 out of range, and Postgres has no year 0.
  .refine((time) => isStorableTime(time), "must be a time of the years 1 to 9999");

/** A JSON object of any content. Handlers hand on its text, see `rawJson`. */
export const jsonObject = z.looseObject({});

/** A JSON array of any content. */
export const jsonArray = z.array(z.unknown());

/** The name of a workflow, stored as sent. */
export const workflowName = z
  .string()
  .refine((name) => name !== "" && Array.from(name).length <= 255, "must have 1 to 255 characters");
