import type { Secret } from "@workflow/proto/integrations/v1/secrets";
import type { SecretRow } from "../store/secrets.ts";

/** The message for a stored secret, without its value. */
export function toSecretMessage(row: SecretRow): Secret {
  return {
    id: row.id,
    workflowId: row.workflowId,
    key: row.key,
    maskedValue: row.maskedValue,
    allowedHosts: row.allowedHosts === null ? undefined : { hosts: row.allowedHosts },
    lastUsedAt: row.lastUsedAt ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
