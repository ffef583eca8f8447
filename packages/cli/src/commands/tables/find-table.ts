import type { Table, WorkflowClient } from "@workflow/client";
import { EXIT } from "../../exit-codes.ts";
import { CliError, usageError } from "../../failures.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The help text of the argument that `findTable` takes. */
export const TABLE_ARGUMENT = "id or name of a table";

/**
 * Finds a table by id or name.
 * @throws CliError when no table, or more than one, has the name
 */
export async function findTable(client: WorkflowClient, given: string): Promise<Table> {
  if (UUID.test(given)) return client.tables.get(given);
  const found = (await client.tables.list().all()).filter(({ name }) => name === given);
  const [table] = found;
  if (table === undefined) throw new CliError(`No table is called ${given}.`, EXIT.notFound);
  if (found.length === 1) return table;
  throw usageError(
    `${found.length} tables are called ${given}; give an id.`,
    ...found.map(({ id }) => id),
  );
}
