import type {
  CheckDeploymentRequest,
  CheckDeploymentResponse,
} from "@workflow/proto/runs/v1/deployments";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { deploymentRefused } from "../deployments/content-reader.ts";

/** Checks before a change is made whether this service would accept its deployment. */
export function checkDeployment({
  contents,
}: ServiceContext): UnaryMethod<CheckDeploymentRequest, CheckDeploymentResponse> {
  return rpc({
    scopes: "internal:deployments",
    async handler({ content }, { identity }) {
      if (content === undefined) {
        throw deploymentRefused([{ path: ["content"], message: "is required" }]);
      }
      await contents.check(identity.companyId, content);
      return {};
    },
  });
}
