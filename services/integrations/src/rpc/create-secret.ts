import { newUuid } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { CreateSecretRequest, Secret } from "@workflow/proto/integrations/v1/secrets";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { secretEntry } from "../domain/secret-audit.ts";
import type { WorkflowKey } from "../domain/secret-place.ts";
import { lockWorkflow } from "../store/archived-workflows.ts";
import { countSecrets, insertSecret } from "../store/secrets.ts";
import { sealFor } from "./seal-for.ts";
import { toSecretMessage } from "./secret-message.ts";
import { requireValid, requireWorkflowKey } from "./secret-request.ts";

/** The limit of one workflow's secrets, since they are listed on one page. */
const SECRETS_MAX = 1_000;

/**
 * Stores a new secret.
 *
 * @throws AppError BAD_REQUEST when its workflow is archived or has its limit of secrets
 */
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
        await lockWorkflow(transaction, place);
        const created = await insertSecret(transaction, place, {
          id,
          sealed,
          allowedHosts: hosts,
          secretsMax: SECRETS_MAX,
        });
        if (created === null) throw await refusalOf(transaction, place);
        await audit.record(
          transaction,
          call,
          secretEntry("secret.created", created, created.allowedHosts),
        );
        return created;
      });
      audit.wake();
      return toSecretMessage(row);
    },
  });
}

/** The reason why a workflow takes no secret. The transaction must hold the workflow's lock. */
async function refusalOf(transaction: Transaction, workflow: WorkflowKey): Promise<AppError> {
  if ((await countSecrets(transaction, workflow)) < SECRETS_MAX) {
    return new AppError("BAD_REQUEST", "The workflow is archived; it keeps no secrets.");
  }
  return new AppError(
    "BAD_REQUEST",
    `The workflow has ${SECRETS_MAX} secrets, which is the most; delete one first.`,
    { details: { limit: "secrets", max: SECRETS_MAX } },
  );
}
