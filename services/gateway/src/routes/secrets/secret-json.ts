import type { Secret } from "@workflow/proto/integrations/v1/secrets";
import type { Writable } from "../../http/write-json.ts";

/** A secret as the contract shows it: never with its value. */
export function secretJson(secret: Secret): Writable {
  return {
    id: secret.id,
    workflowId: secret.workflowId,
    key: secret.key,
    maskedValue: secret.maskedValue,
    // Ours (D66): a secret that may go anywhere is shown as the contract has it.
    allowedHosts: secret.allowedHosts?.hosts,
    lastUsedAt: secret.lastUsedAt ?? null,
    createdAt: secret.createdAt,
    updatedAt: secret.updatedAt,
  };
}
