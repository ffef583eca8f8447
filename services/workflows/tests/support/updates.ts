import type { UpdateWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";
import type { Identity } from "@workflow/rpc";
import type { Harness } from "./harness.ts";

/** The calls of tests about updates. */
export interface Updates {
  /** Changes the fields of a workflow that the mask names. */
  update: (
    workflow: { id: string },
    identity: Identity,
    updateMask: string[] | undefined,
    changes?: Omit<UpdateWorkflowRequest, "workflowId" | "updateMask">,
  ) => Promise<Workflow>;
  get: (workflow: { id: string }, identity: Identity) => Promise<Workflow>;
}

/** The calls by the client of a harness. */
export function updatesBy({ client }: Pick<Harness, "client">): Updates {
  return {
    update: ({ id }, identity, updateMask, changes = {}) =>
      client.updateWorkflow({ workflowId: id, updateMask, ...changes }, { identity }),
    get: ({ id }, identity) => client.getWorkflow({ workflowId: id }, { identity }),
  };
}
