import { invalidRequest } from "@workflow/errors";
import type {
  ListVersionsRequest,
  ListVersionsResponse,
} from "@workflow/proto/workflows/v1/versions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { getWorkflow } from "../store/get-workflow.ts";
import { listVersions as listRows } from "../store/versions.ts";
import { toVersionMessage } from "./version-message.ts";
import { requireWorkflowKey } from "./workflow-key.ts";

const LIMIT_MAX = 1_000;

/**
 * Lists the versions of a workflow, newest first (D20). The contract has no pages here, so one page
 * has them all unless they are very many or very large.
 */
export function listVersions({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListVersionsRequest, ListVersionsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler({ workflowId, limit, cursor }, context) {
      if (limit < 0 || limit > LIMIT_MAX) {
        throw invalidRequest([{ path: ["limit"], message: `must be between 1 and ${LIMIT_MAX}` }]);
      }
      const key = requireWorkflowKey(workflowId, context);
      const binding = JSON.stringify(["versions", key.companyId, key.workflowId]);
      const before = cursor === "" ? null : Number(cursors.decode(binding, cursor)[0]);
      const page = await listRows(database, key, { limit: limit || LIMIT_MAX, before });
      const newest = page.rows.find(({ isCurrent }) => isCurrent);
      const last = page.hasMore ? page.rows.at(-1) : undefined;
      return {
        workflowId: key.workflowId,
        // The first page always has the current version; it is empty only for a missing workflow.
        currentVersion: newest?.version ?? (await getWorkflow(database, key)).version,
        versions: page.rows.map(toVersionMessage),
        page: {
          cursor: last === undefined ? "" : cursors.encode(binding, [String(last.version)]),
          hasMore: page.hasMore,
        },
      };
    },
  });
}
