import type { WorkflowClient } from "@workflow/client";

/** The problems that the server's dry run finds in a workflow, a text each. */
export async function planProblems(client: WorkflowClient, id: string): Promise<string[]> {
  const { problems, missing } = await client.workflows.plan(id);
  return [
    ...problems.map(({ path, message }) => `${path.join(".")}: ${message}`),
    ...Object.entries(missing)
      .filter(([, names]) => names.length > 0)
      .map(([what, names]) => `missing ${what}: ${names.join(", ")}`),
  ];
}
