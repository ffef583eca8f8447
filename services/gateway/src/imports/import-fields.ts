import { z } from "zod";
import { newTable } from "../routes/tables/table-fields.ts";

/** The body of a JSON import. */
export const importFields = newTable.extend({
  columns: newTable.shape.columns.unwrap(),
  rows: z.array(z.looseObject({})),
});
