import { AppError } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type { GetToolRequest, Tool } from "@workflow/proto/workflows/v1/tools";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { findTool } from "../store/tools.ts";
import { toToolMessage } from "./tool-message.ts";

/** Returns the active workflow that is offered as the tool of this name. */
export function getTool({ database }: ServiceContext): UnaryMethod<GetToolRequest, Tool> {
  return rpc({
    scopes: "workflows:read",
    async handler({ name }, { identity: { companyId } }) {
      const tool = isStorableText(name) ? await findTool(database, { companyId, name }) : null;
      if (tool === null)
        throw new AppError("NOT_FOUND", "No active workflow is a tool of this name.");
      return toToolMessage(tool);
    },
  });
}
