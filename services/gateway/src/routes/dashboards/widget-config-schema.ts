import { z } from "zod";
import { anyObject, namesOf, uuidText } from "../answer-schemas.ts";
import { TRIGGER_TYPES } from "../runs/run-json.ts";

/**
 * The configs of widgets. The workflows service checks them, up to 64 KiB each, and keeps unknown
 * members for the editor.
 */

const duration = z
  .int()
  .min(60_000)
  .max(31_622_400_000)
  .meta({ examples: [86_400_000] });
const columnId = z
  .string()
  .min(1)
  .max(255)
  .meta({ examples: ["amount"] });

const runsConfig = z
  .looseObject({
    source: z.literal("runs"),
    workflowId: uuidText.optional().describe("Only runs of this workflow."),
    triggerType: namesOf(TRIGGER_TYPES).optional().describe("Only runs that this started."),
    periodMs: duration
      .optional()
      .describe("How far back, in milliseconds from a minute to 366 days; 7 days by default."),
    bucketMs: duration
      .optional()
      .describe("How long each of the period's parts is; 499 at most. By default what is usual."),
  })
  .meta({
    id: "RunsWidgetConfig",
    description: "A widget about runs.",
    examples: [{ source: "runs", periodMs: 604_800_000 }],
  });

const tableConfig = z
  .looseObject({
    source: z.literal("table"),
    tableId: uuidText.describe("The table; whether it is there shows when the data is read."),
    filter: anyObject
      .optional()
      .describe("Which rows, as POST /tables/{id}/rows/query has it.")
      .meta({ examples: [{ state: { values: ["open"] } }] }),
    groupBy: columnId.optional().describe("Figures for each value of this column."),
    measures: z
      .array(
        z.looseObject({
          fn: z.enum(["count", "sum", "avg", "min", "max"]),
          column: columnId.optional().describe("Needed for all but count."),
        }),
      )
      .min(1)
      .max(20)
      .optional()
      .describe("The figures; without them how many rows there are.")
      .meta({ examples: [[{ fn: "sum", column: "amount" }]] }),
    columns: z.array(columnId).min(1).max(100).optional().describe("Which columns of the rows."),
    sort: columnId.optional().describe("The column by which rows are sorted."),
    order: z.enum(["asc", "desc"]).optional().describe("asc by default."),
    limit: z.int().min(1).max(100).optional().describe("How many rows at most; 50 by default."),
  })
  .meta({
    id: "TableWidgetConfig",
    description:
      "A widget about the rows of a table: rows as they are in a widget of type table without groupBy and measures, else figures.",
    examples: [{ source: "table", tableId: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a" }],
  });

const ownConfig = z.looseObject({ source: z.undefined().optional() }).meta({
  id: "PlainWidgetConfig",
  description: "A widget without data, such as a text.",
  examples: [{ text: "Ask Ada before you change this." }],
  override: {
    type: "object",
    properties: {},
    not: { properties: { source: {} }, required: ["source"] },
  },
});

/** The content of a widget, and its source. */
export const widgetConfigSchema = z.union([runsConfig, tableConfig, ownConfig]).meta({
  id: "WidgetConfig",
  description: "What a widget shows and where that comes from; at most 64 KiB.",
  examples: [{ source: "runs", periodMs: 604_800_000 }],
});
