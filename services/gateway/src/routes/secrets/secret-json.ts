import type { Secret } from "@workflow/proto/integrations/v1/secrets";
import type { Writable } from "../../http/write-json.ts";

/** A secret as the contract shows it: never with its value. */
export function secretJson(secret: Secret): Writable {
  return {
    id: secret.id,
    workflowId: secret.workflowId,
    key: secret.key,
    maskedValue: secret.maskedValue,
    // An addition to the contract (D66): a secret without hosts is shown exactly as in the
    // contract.
    allowedHosts: secret.allowedHosts?.hosts,
    lastUsedAt: secret.lastUsedAt ?? null,
    createdAt: secret.createdAt,
    updatedAt: secret.updatedAt,
  };
}
