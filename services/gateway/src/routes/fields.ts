import { z } from "zod";

/** A whole number in a query string, written in plain digits. */
export function queryInteger(bounds: { min: number; max: number }) {
  const { min, max } = bounds;
  const message = `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.int().min(min, message).max(max, message));
}

/** The parameters of every keyset-paged list: 1 to 100 items, 50 by default. */
export const pageFields = {
  limit: queryInteger({ min: 1, max: 100 }).default(50),
  cursor: z.string().default(""),
};

/** A point in time, ISO 8601 with a zone. */
export const timestamp = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 timestamp such as 2026-01-31T08:00:00Z" })
  .transform((text) => new Date(text));

/** A JSON object of any content. Handlers hand on its text, see `rawJson`. */
export const jsonObject = z.looseObject({});

/** A JSON array of any content. */
export const jsonArray = z.array(z.unknown());

/** The name of a workflow: kept as sent. */
export const workflowName = z
  .string()
  .refine((name) => name !== "" && Array.from(name).length <= 255, "must have 1 to 255 characters");
