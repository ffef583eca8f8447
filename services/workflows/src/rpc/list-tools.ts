import type { ListToolsRequest, ListToolsResponse } from "@workflow/proto/workflows/v1/tools";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { listTools as listRows } from "../store/tools.ts";
import { parseLimit } from "./page-limit.ts";
import { toToolMessage } from "./tool-message.ts";

/** Lists the active workflows that are offered as tools, by name. */
export function listTools({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListToolsRequest, ListToolsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler({ page }, { identity }) {
      const { companyId } = identity;
      const limit = parseLimit(page?.limit ?? 0);
      const binding = JSON.stringify(["tools", companyId]);
      const cursor = page?.cursor ?? "";
      const [after = ""] = cursor === "" ? [] : cursors.decode(binding, cursor);

      const { tools, hasMore } = await listRows(database, { companyId, after, limit });
      const last = hasMore ? tools.at(-1) : undefined;
      return {
        tools: tools.map(toToolMessage),
        page: { cursor: last ? cursors.encode(binding, [last.name]) : "", hasMore },
      };
    },
  });
}
