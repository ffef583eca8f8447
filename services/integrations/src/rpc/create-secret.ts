import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { CreateSecretRequest, Secret } from "@workflow/proto/integrations/v1/secrets";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { secretEntry } from "../domain/secret-audit.ts";
import { lockWorkflow } from "../store/archived-workflows.ts";
import { insertSecret } from "../store/secrets.ts";
import { sealFor } from "./seal-for.ts";
import { toSecretMessage } from "./secret-message.ts";
import { requireValid, requireWorkflowKey } from "./secret-request.ts";

/** Stores a new secret, unless its workflow is known to be archived: BAD_REQUEST. */
export function createSecret(context: ServiceContext): UnaryMethod<CreateSecretRequest, Secret> {
  const { writes, audit } = context;
  return rpc({
    scopes: "secrets:write",
    async handler({ workflowId, key, value, allowedHosts }, call) {
      const hosts = requireValid({ key, value, allowedHosts }) ?? null;
      const place = { ...requireWorkflowKey(workflowId, call), key };
      const sealed = await sealFor(context, place, value);
      const id = newUuid();
      const row = await writes.transaction(call, async (transaction) => {
        await lockWorkflow(transaction, place, "create");
        const created = await insertSecret(transaction, id, place, sealed, hosts);
        if (created === null) return null;
        await audit.record(
          transaction,
          call,
          secretEntry("secret.created", created, created.allowedHosts),
        );
        return created;
      });
      if (row === null) {
        throw new AppError("BAD_REQUEST", "The workflow is archived; it keeps no secrets.");
      }
      audit.wake();
      return toSecretMessage(row);
    },
  });
}
