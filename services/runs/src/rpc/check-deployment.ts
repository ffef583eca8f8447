import { AppError } from "@workflow/errors";
import type {
  CheckDeploymentRequest,
  CheckDeploymentResponse,
} from "@workflow/proto/runs/v1/deployments";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { parseContent } from "./put-deployment.ts";

/** Checks before a change is made whether this service would accept its deployment. */
export function checkDeployment(): UnaryMethod<CheckDeploymentRequest, CheckDeploymentResponse> {
  return rpc({
    scopes: "internal:deployments",
    async handler({ content }) {
      if (content === undefined) {
        const violations = [{ path: ["content"], message: "is required" }];
        throw new AppError("BAD_REQUEST", "The deployment cannot be executed.", { violations });
      }
      await parseContent(content);
      return {};
    },
  });
}
