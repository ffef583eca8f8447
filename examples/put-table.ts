import type { NewTable, Table, WorkflowClient } from "@workflow/client";

/** The table of this name; it is made when the company has none. */
export async function putTable({ tables }: WorkflowClient, wanted: NewTable): Promise<Table> {
  for await (const table of tables.list()) {
    if (table.name === wanted.name) return table;
  }
  return tables.create(wanted);
}
