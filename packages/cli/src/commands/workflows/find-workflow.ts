import type { WorkflowClient } from "@workflow/client";
import { EXIT } from "../../exit-codes.ts";
import { CliError, usageError } from "../../failures.ts";
import { readWorkflowFile, SUFFIX } from "../../files/workflow-file.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The help text of the argument that `findWorkflowId` takes. */
export const WORKFLOW_ARGUMENT = "id, name, or file of a workflow";

/**
 * Finds the id of a workflow given by id, file or name.
 * @throws CliError when no workflow, or more than one, has the name
 */
export async function findWorkflowId(client: WorkflowClient, given: string): Promise<string> {
  if (UUID.test(given)) return given;
  if (given.endsWith(SUFFIX)) {
    const { id } = await readWorkflowFile(given);
    if (id !== undefined) return id;
    throw usageError(
      `${given} has no id yet.`,
      `Push it first: workflowctl workflows push ${given}`,
    );
  }
  const found: string[] = [];
  for await (const { id, name } of client.workflows.list({ search: given, limit: 100 })) {
    if (name === given) found.push(id);
  }
  const [id] = found;
  if (id === undefined) throw new CliError(`No workflow is called ${given}.`, EXIT.notFound);
  if (found.length > 1) {
    throw usageError(
      `${found.length} workflows are called ${given}; give an id.`,
      ...found.slice(0, 20),
    );
  }
  return id;
}
