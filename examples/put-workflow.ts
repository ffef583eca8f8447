import type { NewWorkflow, Workflow, WorkflowClient } from "@workflow/client";

/**
 * The workflow of this name, active and with this definition. It is made when the company has none, and gets a new
 * version when it is active already.
 */
export async function putWorkflow(
  { workflows }: WorkflowClient,
  definition: NewWorkflow,
): Promise<Workflow> {
  const known = await findWorkflow({ workflows }, definition.name);
  const workflow =
    known === undefined
      ? await workflows.create(definition)
      : await workflows.update(known.id, definition);
  if (workflow.status !== "active") await workflows.activate(workflow.id);
  return workflow;
}

async function findWorkflow(
  { workflows }: Pick<WorkflowClient, "workflows">,
  name: string,
): Promise<Workflow | undefined> {
  for await (const workflow of workflows.list({ search: name, limit: 100 })) {
    if (workflow.name === name && workflow.status !== "archived") return workflow;
  }
  return undefined;
}
