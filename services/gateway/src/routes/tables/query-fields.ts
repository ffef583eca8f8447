import { isJsonProblem, scanJsonObject } from "@workflow/json";
import { SortOrder } from "@workflow/proto/tables/v1/rows";
import type { ListDistinctValuesResponse } from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import { RawJson } from "../../http/write-json.ts";
import { filterSchema } from "./filter-schema.ts";

/** 512 KiB: the whole body of a query (D4). */
export const QUERY_BYTES_MAX = 512 * 1024;

/** A filter in a body. Handlers pass on its text, which the service validates with the columns. */
export const filter = filterSchema.optional();

/** A filter in a query string; its text is passed on. */
export const filterText = z
  .string()
  .refine((text) => !isJsonProblem(scanJsonObject(text)), "must be a JSON object, URL-encoded")
  .default("")
  .describe(
    "A filter as in a body, as URL-encoded JSON; a clause may also be a plain text, number or boolean that the value has to contain. Empty: every row.",
  )
  .meta({ examples: ['{"state":{"values":["open"]}}'] });

/** The id of a column to sort or group by. */
export const columnId = z
  .string()
  .min(1, "must be the id of a column")
  .optional()
  .describe("The id of a column that the table declares.");

/** The direction of the order. */
export const order = z
  .enum(["asc", "desc"])
  .default("asc")
  .transform((name) => (name === "asc" ? SortOrder.ASC : SortOrder.DESC))
  .describe("Which way `sort` goes; blanks come last in both.");

const OFFSET = "must be an integer of 0 or more";

/** The number of rows to skip. */
export const offset = z
  .int(OFFSET)
  .min(0, OFFSET)
  .default(0)
  .describe("How many matching rows to leave out at the beginning.");

/** An integer in a body. */
export function integer(bounds: { min: number; max: number }) {
  const message = `must be an integer from ${bounds.min} to ${bounds.max}`;
  return z.int(message).min(bounds.min, message).max(bounds.max, message);
}

/** A text that a value's label has to contain. */
export const search = z
  .string()
  .refine((text) => Array.from(text).length <= 255, "must have at most 255 characters")
  .default("")
  .describe("What the label of a value has to contain, in any case; empty: any label.")
  .meta({ maxLength: 255 });

/** The values of a column as the contract shows them. */
export function valuesReply({ values, truncated }: ListDistinctValuesResponse) {
  const shown = values.map(({ valueJson, label, count }) => ({
    value: new RawJson(valueJson),
    label,
    count,
  }));
  return { status: 200, data: { values: shown, truncated } } as const;
}
