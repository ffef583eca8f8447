import { parseJsonText } from "@workflow/json";
import { z } from "zod";
import { queryBoolean } from "../fields.ts";
import { columnFields, tableName } from "../tables/table-fields.ts";

/** The delimiters of a line's values. */
const DELIMITERS = [",", ";", "\t", "|"] as const;

const MAX_ROWS = "must be an integer from 1 to 100000";

/** The parameters of a CSV import in the query string. */
export const csvImportQuery = z.object({
  /** Required here; JSON imports have it in their body. */
  name: tableName.optional().describe("The table's name; required with format=csv."),
  description: z.string().default("").describe("For people; empty: none."),
  maxRows: z
    .string()
    .regex(/^\d{1,6}$/, MAX_ROWS)
    .transform(Number)
    .pipe(z.int().min(1, MAX_ROWS).max(100_000, MAX_ROWS))
    .optional()
    .describe("How many rows the table may have, 1 to 100,000; 10,000 unless said otherwise.")
    .meta({
      override: ({ jsonSchema }) => {
        delete jsonSchema.pattern;
        Object.assign(jsonSchema, { type: "integer", minimum: 1, maximum: 100_000 });
      },
    }),
  folderId: z.string().default("").describe("The folder to lie in; empty: the root."),
  rowEvents: queryBoolean(false).describe("Whether changes of rows are told as events."),
  delimiter: z
    .enum(DELIMITERS)
    .optional()
    .describe(
      "What stands between values; by default the comma, semicolon or tab that the header has most of.",
    ),
  columns: z
    .string()
    .transform((text, context) => {
      const parsed = parseJsonText(text, "array");
      if (parsed.ok) return parsed.value;
      context.addIssue(parsed.message);
      return z.NEVER;
    })
    .pipe(z.array(columnFields))
    .default([])
    .describe(
      "Columns of the header whose type is not to be guessed: a JSON array of `{name, type, id?, required?, options?}`, URL-encoded.",
    ),
});

/** The options of a CSV file. */
export type CsvImportFields = z.output<typeof csvImportQuery> & { name: string };
