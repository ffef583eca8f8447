import { z } from "zod";
import { newTable } from "../tables/table-fields.ts";

/** The body of a JSON import. */
export const importFields = newTable
  .extend({
    columns: newTable.shape.columns
      .unwrap()
      .describe("The columns; one without an id has its name for one.")
      .meta({ examples: [[{ name: "State", type: "select", options: ["open", "done"] }]] }),
    rows: z
      .array(z.looseObject({}))
      .describe("The data of each row, by column id; kept in this order, at most maxRows of them.")
      .meta({ examples: [[{ State: "open" }]] }),
  })
  .meta({ id: "TableImport", description: "A new table with its rows." });
