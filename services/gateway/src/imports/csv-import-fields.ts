import { z } from "zod";
import { columnFields, tableName } from "../routes/tables/table-fields.ts";

/** What may stand between the values of a line. */
const DELIMITERS = [",", ";", "\t", "|"] as const;

const MAX_ROWS = "must be an integer from 1 to 100000";

/** What the query string says about a CSV file. */
export const csvImportQuery = z.object({
  /** Required, but not of the imports that have it in their body. */
  name: tableName.optional(),
  description: z.string().default(""),
  maxRows: z
    .string()
    .regex(/^\d{1,6}$/, MAX_ROWS)
    .transform(Number)
    .pipe(z.int().min(1, MAX_ROWS).max(100_000, MAX_ROWS))
    .optional(),
  folderId: z.string().default(""),
  rowEvents: z
    .enum(["true", "false"])
    .default("false")
    .transform((text) => text === "true"),
  delimiter: z.enum(DELIMITERS).optional(),
  columns: z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue("must be a JSON array, URL-encoded");
        return z.NEVER;
      }
    })
    .pipe(z.array(columnFields))
    .default([]),
});

/** What is known about a CSV file beside its content. */
export type CsvImportFields = z.output<typeof csvImportQuery> & { name: string };
