import { z } from "zod";
import { anyJson, anyObject, timeText, uuidText, wholeNumber } from "../answer-schemas.ts";

const ROW_DATA = { state: "open", amount: 129.5 };

/** Values by column id, undeclared keys included. */
const dataSchema = anyObject
  .describe("Values by column id; keys that no column declares are kept, too.")
  .meta({ examples: [ROW_DATA] });

/** A row of a table. */
export const rowSchema = z
  .strictObject({
    id: uuidText.describe("The row's id."),
    data: dataSchema,
    position: wholeNumber
      .nullable()
      .describe("Its place in the table's own order; grows, with gaps where rows were deleted."),
    createdAt: timeText,
    updatedAt: timeText.describe("When its data changed last."),
  })
  .meta({ id: "Row", description: "A row of a table." });

/** `meta` of a page of rows. */
export const rowsMetaSchema = z
  .strictObject({
    total: wholeNumber.describe("How many rows match the filter, on all pages together."),
    limit: z
      .int()
      .min(1)
      .max(100)
      .describe("As asked for.")
      .meta({ examples: [50] }),
    offset: wholeNumber.describe("As asked for."),
    hasMore: z.boolean().describe("Whether rows come after this page."),
  })
  .meta({ id: "RowsMeta", description: "Which part of the matching rows a page is." });

/** The result of a batch. */
export const batchSchema = z
  .strictObject({
    inserted: z.array(rowSchema).describe("The new rows, in the order given."),
    updated: z.array(rowSchema).describe("The changed rows, in the order given."),
    deleted: z.array(uuidText).describe("Ids of the rows that are gone, in the order given."),
  })
  .meta({ id: "RowBatchResult", description: "What a batch of changes has done." });

/** The values of a column. */
export const columnValuesSchema = z
  .strictObject({
    values: z
      .array(
        z
          .strictObject({
            value: anyJson
              .describe("Just as rows hold it; null stands for all blanks.")
              .meta({ examples: ["open"] }),
            label: z
              .string()
              .describe("What people read; `(Blanks)` for blanks.")
              .meta({ examples: ["open"] }),
            count: wholeNumber.describe("How many rows have it.").meta({ examples: [12] }),
          })
          .meta({ id: "ColumnValue", description: "One value of a column." }),
      )
      .describe("In the order of the column, blanks last."),
    truncated: z
      .boolean()
      .describe(
        "Whether there are more than `limit`, or one is too large to be told: search more.",
      ),
  })
  .meta({ id: "ColumnValues", description: "The different values of a column." });

/** Figures about rows. */
export const figuresSchema = z
  .strictObject({
    groups: z
      .array(
        z
          .strictObject({
            key: anyJson
              .describe("The group's value; null for blanks, and for the one group of all rows.")
              .meta({ examples: ["open"] }),
            values: z
              .array(z.union([z.number(), z.string(), z.null()]))
              .describe(
                "A figure for each measure, in their order: a number, a day for min and max of dates, or null where there is none.",
              )
              .meta({ examples: [[12, 3400.5]] }),
          })
          .meta({ id: "FigureGroup", description: "The figures of one group of rows." }),
      )
      .describe("In the order of the column, blanks last; without groupBy, one group."),
  })
  .meta({ id: "Figures", description: "Figures of the rows that match." });

/** A line of an export as JSON Lines. */
export const exportedRowSchema = z
  .strictObject({ id: uuidText.describe("The row's id."), data: dataSchema })
  .meta({ id: "ExportedRow", description: "One line of an export as JSON Lines." });

/** The values of a row. Handlers pass on the text. */
export const rowData = z
  .looseObject({})
  .describe(
    "Values by column id, at most 1 MiB as JSON; keys that no column declares are kept. Integers beyond 2^53 and infinite numbers are refused.",
  )
  .meta({ examples: [ROW_DATA] });

/** The body of a new or changed row. */
export const rowFields = z
  .object({ data: rowData })
  .meta({ id: "RowInput", description: "The data of a row." });
