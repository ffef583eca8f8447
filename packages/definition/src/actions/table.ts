import { z } from "zod";
import { templatable, templatableText } from "../zod-messages.ts";
import type { ActionDefinition } from "./action.ts";
import { text } from "./inputs.ts";

const ROWS_MAX = 100;

const tableId = text("Id of the table");
const rowId = text("Id of the row");
const data = templatable(z.record(z.string(), z.unknown())).meta({
  description: "The row's values by column id",
});

export const tableQuery: ActionDefinition = {
  id: "table.query",
  title: "Query rows",
  description: "Finds rows of a table.",
  inputs: z.looseObject({
    tableId,
    filter: templatable(z.record(z.string(), z.unknown()))
      .optional()
      .meta({ description: "Conditions by column id, as in the query of a table's rows" }),
    sort: text("Id of the column to sort by").optional(),
    order: templatableText(z.enum(["asc", "desc"]))
      .optional()
      .meta({ description: "The direction of the sort; asc by default" }),
    limit: templatable(z.int().min(1).max(ROWS_MAX))
      .optional()
      .meta({ description: "Rows to return; 50 where none is given" }),
    offset: templatable(z.int().min(0)).optional().meta({ description: "Rows to pass over" }),
  }),
  outputs: ["rows", "total", "hasMore"],
};

export const tableInsert: ActionDefinition = {
  id: "table.insert",
  title: "Insert a row",
  description: "Adds a row to a table.",
  inputs: z.looseObject({ tableId, data }),
  outputs: ["id", "data", "position", "createdAt", "updatedAt"],
};

export const tableUpdate: ActionDefinition = {
  id: "table.update",
  title: "Update a row",
  description: "Replaces a row's data, or merges new data into it.",
  inputs: z.looseObject({
    tableId,
    rowId,
    data,
    merge: templatable(z.boolean()).optional().meta({
      description: "Whether values that data does not name are kept; otherwise they are removed",
    }),
  }),
  outputs: ["id", "data", "position", "createdAt", "updatedAt"],
};

export const tableDelete: ActionDefinition = {
  id: "table.delete",
  title: "Delete a row",
  description: "Deletes a row of a table.",
  inputs: z.looseObject({ tableId, rowId }),
  outputs: ["deleted"],
};
