import { z } from "zod";
import { anyJson, namesOf, timeText, uuidText } from "../answer-schemas.ts";
import { RUN_STATUSES } from "../runs/run-json.ts";
import { rowSchema } from "../tables/row-schema.ts";
import { COLUMN_TYPES } from "../tables/table-fields.ts";

const widgetId = uuidText.describe("The widget's id.");
const count = z
  .int()
  .min(0)
  .meta({ examples: [120] });
const milliseconds = z
  .number()
  .min(0)
  .meta({ examples: [850] });

const figureFields = {
  count: count.describe("How many runs were started."),
  byStatus: z
    .partialRecord(namesOf(RUN_STATUSES), count)
    .describe("How many of them have each status now; those that none has are left out.")
    .meta({ examples: [{ completed: 118, failed: 2 }] }),
  successRate: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe("How many of those that ended completed, from 0 to 1; null where none has ended.")
    .meta({ examples: [0.983] }),
  durationMs: z
    .strictObject({ p50: milliseconds, p95: milliseconds, p99: milliseconds })
    .nullable()
    .describe(
      "How long they took: of 50, 95 and 99 in a hundred at most so long; null where none has ended.",
    ),
};

const runsData = z
  .strictObject({
    widgetId,
    source: z.literal("runs"),
    from: timeText.describe("Inclusive."),
    to: timeText.describe("Exclusive."),
    bucketMs: z
      .int()
      .describe("How long a bucket is.")
      .meta({ examples: [3_600_000] }),
    total: z.strictObject(figureFields),
    buckets: z
      .array(z.strictObject({ from: timeText, to: timeText, ...figureFields }))
      .describe("Without gaps, oldest first."),
  })
  .meta({ id: "RunsWidgetData", description: "Figures about runs, in all and over time." });

const tableFields = {
  widgetId,
  source: z.literal("table"),
  table: z.strictObject({
    id: uuidText.describe("The table's id."),
    name: z.string().meta({ examples: ["Invoices"] }),
  }),
  columns: z
    .array(
      z.strictObject({
        id: z.string().meta({ examples: ["amount"] }),
        name: z.string().meta({ examples: ["Amount"] }),
        type: namesOf(COLUMN_TYPES).meta({ examples: ["number"] }),
      }),
    )
    .describe("The columns that are shown and that the table still has."),
};

const figuresData = z
  .strictObject({
    ...tableFields,
    groupBy: z
      .string()
      .nullable()
      .describe("The column that makes the groups; null where all rows are one.")
      .meta({ examples: ["state"] }),
    measures: z
      .array(
        z.strictObject({
          fn: z.enum(["count", "sum", "avg", "min", "max"]),
          column: z.string().nullable().describe("Null for a count of rows."),
        }),
      )
      .meta({ examples: [[{ fn: "sum", column: "amount" }]] }),
    groups: z
      .array(
        z.strictObject({
          key: anyJson.describe("The group's value; null for blanks, and where all rows are one."),
          values: z.array(anyJson).describe("A figure for each measure, in their order."),
        }),
      )
      .meta({ examples: [[{ key: "open", values: [3400.5] }]] }),
  })
  .meta({ id: "TableFiguresWidgetData", description: "Figures about the rows of a table." });

const rowsData = z
  .strictObject({
    ...tableFields,
    rows: z.array(rowSchema),
    total: count.describe("How many rows match."),
    hasMore: z.boolean().describe("Whether more rows match than are shown."),
  })
  .meta({ id: "TableRowsWidgetData", description: "Rows of a table." });

/** The data of a widget. */
export const widgetDataSchema = z.union([runsData, figuresData, rowsData]);
