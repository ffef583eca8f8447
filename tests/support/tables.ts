import { expect } from "@jest/globals";
import { z } from "zod";
import type { Answer } from "./api-client.ts";
import type { WholeSystem } from "./whole-system.ts";

/** A column with the fields of the contract. */
const columnSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  required: z.boolean().optional(),
  options: z.array(z.string()).optional(),
});

/** A table with the fields of the contract, and those of our own. */
export const tableSchema = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  description: z.string().optional(),
  columns: z.array(columnSchema),
  schema: z.looseObject({}),
  metadata: z.looseObject({}),
  maxRows: z.int(),
  rowCount: z.int(),
  rowEvents: z.boolean(),
  folderId: z.uuid().nullable(),
  createdAt: z.iso.datetime({ precision: 3 }),
  updatedAt: z.iso.datetime({ precision: 3 }),
});

/** A row with the fields of the contract. */
export const rowSchema = z.strictObject({
  id: z.uuid(),
  data: z.looseObject({}),
  position: z.number().nullable(),
  createdAt: z.iso.datetime({ precision: 3 }),
  updatedAt: z.iso.datetime({ precision: 3 }),
});

const rowsSchema = z.array(rowSchema);

/** The content of a new table. */
export interface TableContent {
  columns?: readonly object[];
  rows?: readonly object[];
  /** The name of a new folder for the table. */
  folder?: string;
  /** More fields of the table. */
  fields?: object;
}

/** Makes a table by an import, by default with one text column `name`. */
export async function makeTable(
  system: WholeSystem,
  key: string,
  { columns = [{ name: "name", type: "text" }], rows = [], folder, fields = {} }: TableContent = {},
): Promise<{ id: string; rowIds: string[]; folderId: string }> {
  let folderId = "";
  if (folder !== undefined) {
    const body = { name: folder };
    const made = await system.call("POST", "/table-folders", { key, body });
    folderId = z.looseObject({ id: z.string() }).parse(made.data).id;
  }
  const body = {
    name: "Contacts",
    columns,
    rows,
    ...(folderId === "" ? {} : { folderId }),
    ...fields,
  };
  const table = await system.call("POST", "/tables/import", { key, body });
  expect(table.error).toBeUndefined();
  const { id } = tableSchema.parse(table.data);
  const page = await system.call("POST", `/tables/${id}/rows/query`, { key, body: { limit: 100 } });
  return { id, rowIds: rowsOf(page).map((row) => row.id), folderId };
}

/** The rows of a page, in their order. */
export function rowsOf(answer: Answer): z.output<typeof rowSchema>[] {
  expect(answer.error).toBeUndefined();
  return rowsSchema.parse(answer.data);
}
