import type {
  ListSecretsRequest,
  ListSecretsResponse,
} from "@workflow/proto/integrations/v1/secrets";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { listSecrets as listRows } from "../store/secrets.ts";
import { toSecretMessage } from "./secret-message.ts";
import { requireWorkflowKey } from "./secret-request.ts";

/** Lists a workflow's secrets by key, without decrypting any. */
export function listSecrets({
  database,
}: ServiceContext): UnaryMethod<ListSecretsRequest, ListSecretsResponse> {
  return rpc({
    scopes: "secrets:read",
    async handler(request, context) {
      const rows = await listRows(database, requireWorkflowKey(request.workflowId, context));
      return { secrets: rows.map(toSecretMessage) };
    },
  });
}
