import { z } from "zod";
import { anyObject, timeText, uuidText, wholeNumber } from "../answer-schemas.ts";
import { columnType } from "./table-fields.ts";

const columnSchema = z
  .strictObject({
    id: z
      .string()
      .min(1)
      .max(255)
      .describe(
        "The key of its values in rows, filters and sorting; a new name does not change it.",
      )
      .meta({ examples: ["col_01kg9d1kzcexw9f1c3f4r7m2qa"] }),
    name: z
      .string()
      .min(1)
      .max(255)
      .describe("What people call it.")
      .meta({ examples: ["State"] }),
    type: columnType,
    required: z
      .boolean()
      .optional()
      .describe(
        "Whether people are asked to fill it in, which is not enforced; left out unless given.",
      ),
    options: z
      .array(z.string())
      .optional()
      .describe("What a select column offers, in its sort order; left out where there are none.")
      .meta({ examples: [["open", "late", "done"]] }),
  })
  .meta({ id: "Column", description: "A column that a table declares." });

/** A table without its rows. */
export const tableSchema = z
  .strictObject({
    id: uuidText.describe("The table's id."),
    name: z
      .string()
      .describe("1 to 255 characters.")
      .meta({ examples: ["Orders"] }),
    description: z
      .string()
      .optional()
      .describe("For people; left out where there is none.")
      .meta({ examples: ["What customers have ordered"] }),
    columns: z.array(columnSchema).describe("The same as `schema.columns`, empty without any."),
    schema: z
      .looseObject({
        columns: z.array(columnSchema).optional().describe("Left out where none were ever given."),
      })
      .describe("The columns, and whatever else the caller keeps there."),
    metadata: anyObject
      .describe("The caller's own members; `{}` without any.")
      .meta({ examples: [{ team: "sales" }] }),
    maxRows: z
      .int()
      .min(1)
      .max(100_000)
      .describe("How many rows it may have.")
      .meta({
        examples: [10_000],
      }),
    rowCount: wholeNumber.describe("How many rows it has."),
    rowEvents: z
      .boolean()
      .describe(
        "Whether changes of its rows are told as events, which workflows can be started by.",
      ),
    folderId: uuidText.nullable().describe("The folder that it lies in; null: the root."),
    createdAt: timeText,
    updatedAt: timeText.describe(
      "When what it says about itself changed last; changes of rows do not count.",
    ),
  })
  .meta({ id: "Table", description: "A table: what it says about itself, without its rows." });

/** A folder of tables. */
export const folderSchema = z
  .strictObject({
    id: uuidText.describe("The folder's id."),
    name: z
      .string()
      .describe("1 to 255 characters, of no other folder of the company.")
      .meta({
        examples: ["Sales"],
      }),
    tableIds: z.array(uuidText).describe("The tables in it, the newest first."),
    createdAt: timeText,
    updatedAt: timeText.describe("When it, or what lies in it, changed last."),
  })
  .meta({ id: "TableFolder", description: "A folder of tables. Folders hold no folders." });

/** Where a table lies. */
export const movedTableSchema = z
  .strictObject({
    tableId: uuidText.describe("The table."),
    folderId: uuidText.nullable().describe("The folder that it lies in now; null: the root."),
  })
  .meta({ id: "MovedTable", description: "Where a table lies now." });
