import { invalidRequest } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import type {
  ListWorkflowsRequest,
  ListWorkflowsResponse,
} from "@workflow/proto/workflows/v1/workflows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { STATUSES } from "../domain/status.ts";
import type { Status } from "../domain/status.ts";
import { listWorkflows as listRows } from "../store/list-workflows.ts";
import { parseLimit } from "./page-limit.ts";
import { MESSAGE_STATUS, toWorkflowMessage } from "./workflow-message.ts";

/** Lists workflows, newest first; archived ones only with that status as a filter (D21). */
export function listWorkflows({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListWorkflowsRequest, ListWorkflowsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, { identity }) {
      const { companyId } = identity;
      const limit = parseLimit(request.page?.limit ?? 0);
      const status = parseStatus(request.status);
      const search = parseSearch(request.search);
      const binding = JSON.stringify(["workflows", companyId, status, search]);
      const cursor = request.page?.cursor ?? "";
      const after = cursor === "" ? null : toPosition(cursors.decode(binding, cursor));

      const page = await listRows(database, { companyId, status, search, limit, after });
      const last = page.hasMore ? page.rows.at(-1) : undefined;
      return {
        workflows: page.rows.map((row) => toWorkflowMessage(row)),
        page: {
          cursor: last ? cursors.encode(binding, [last.createdAt.toISOString(), last.id]) : "",
          hasMore: page.hasMore,
        },
      };
    },
  });
}

/** Null: all but archived ones. */
function parseStatus(status: WorkflowStatus): Status | null {
  if (status === WorkflowStatus.UNSPECIFIED) return null;
  const known = STATUSES.find((each) => MESSAGE_STATUS[each] === status);
  if (known !== undefined) return known;
  throw invalidRequest([{ path: ["status"], message: `must be one of ${STATUSES.join(", ")}` }]);
}

function parseSearch(search: string): string {
  if (isStorableText(search)) return search;
  throw invalidRequest([
    { path: ["search"], message: "must not contain NUL or unpaired surrogates" },
  ]);
}

/** Cursors are signed, so one that decodes was made above. */
function toPosition([createdAt, id]: string[]): { createdAt: string; id: string } {
  if (createdAt === undefined || id === undefined) throw new Error("A cursor holds no position.");
  return { createdAt, id };
}
