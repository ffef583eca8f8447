import type { GetVersionRequest, WorkflowVersion } from "@workflow/proto/workflows/v1/versions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { getVersion as getRow } from "../store/versions.ts";
import { toVersionMessage } from "./version-message.ts";
import { requireWorkflowKey } from "./workflow-key.ts";

/** Returns one version of a workflow, current or archived. */
export function getVersion({
  database,
}: ServiceContext): UnaryMethod<GetVersionRequest, WorkflowVersion> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, context) {
      const key = requireWorkflowKey(request.workflowId, context);
      return toVersionMessage(await getRow(database, key, request.version));
    },
  });
}
