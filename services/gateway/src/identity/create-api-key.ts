import type { AuditEntry } from "@workflow/audit";
import { newUuid } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { apiKeyPrefix, generateApiKey, hashApiKey } from "../auth/api-key-format.ts";
import type { Scope } from "../domain/scopes.ts";
import { countApiKeys, insertApiKey } from "../store/api-keys.ts";
import { lockMembers } from "../store/members.ts";
import { nameInput, readInput, scopesInput } from "./inputs.ts";

const input = z.object({
  companyId: z.uuid("must be the id of a company"),
  name: nameInput,
  scopes: scopesInput,
  expiresAt: z
    .date()
    .refine((date) => date.getTime() > Date.now(), "must lie in the future")
    .optional(),
  createdBy: z.object({ id: z.uuid(), name: z.string().optional() }).optional(),
});

/** Nobody can look after more keys than that, and this many fit on one page. */
const KEYS_MAX = 1_000;

/** The input of a new key; `createdBy` is the user or the key that requests it. */
export type CreateApiKeyInput = z.input<typeof input>;

/** A new key. `key` is not stored and is shown only here. */
export interface CreatedApiKey {
  id: string;
  name: string;
  key: string;
  keyPrefix: string;
  scopes: readonly Scope[];
  createdAt: Date;
  expiresAt: Date | null;
}

/**
 * Creates an API key with several statements; the caller records the audit event.
 *
 * @throws AppError BAD_REQUEST for a bad name, scope or expiry or when the company has too many
 * keys; NOT_FOUND for an unknown company
 */
export async function insertNewApiKey(
  transaction: Transaction,
  request: CreateApiKeyInput,
): Promise<CreatedApiKey> {
  const { companyId, name, scopes, expiresAt, createdBy } = readInput(input, request);
  // The lock makes keys that are created at the same time count each other.
  await lockMembers(transaction, companyId);
  if ((await countApiKeys(transaction, companyId)) >= KEYS_MAX) {
    const message = `The company has ${KEYS_MAX} API keys. Revoke some that are not used.`;
    throw new AppError("BAD_REQUEST", message, { details: { limit: "apiKeys", max: KEYS_MAX } });
  }
  const id = newUuid();
  const key = generateApiKey();
  const shown = { id, name, keyPrefix: apiKeyPrefix(key), scopes, expiresAt: expiresAt ?? null };
  const createdAt = await insertApiKey(transaction, {
    ...shown,
    companyId,
    keyHash: hashApiKey(key),
    createdBy: createdBy?.id ?? null,
    createdByName: createdBy?.name ?? null,
  });
  return { ...shown, key, createdAt };
}

/** The audit event of a new key. */
export function apiKeyCreated({ id, name, scopes, expiresAt }: CreatedApiKey): AuditEntry {
  return {
    action: "api_key.created",
    resourceType: "api_key",
    resourceId: id,
    changes: {
      name: { from: null, to: name },
      scopes: { from: null, to: scopes.join(" ") },
      expiresAt: { from: null, to: expiresAt?.toISOString() ?? null },
    },
  };
}
