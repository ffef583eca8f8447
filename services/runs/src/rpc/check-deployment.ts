import type {
  CheckDeploymentRequest,
  CheckDeploymentResponse,
} from "@workflow/proto/runs/v1/deployments";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { deploymentRefused } from "../deployments/content-reader.ts";

/** Says before a change is made whether its hand-over would be taken. */
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
