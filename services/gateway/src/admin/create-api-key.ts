import { newUuid } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { apiKeyPrefix, generateApiKey, hashApiKey } from "../auth/api-key-format.ts";
import type { Scope } from "../auth/scopes.ts";
import { insertApiKey } from "../store/api-keys.ts";
import { nameInput, readInput, scopesInput } from "./inputs.ts";

const input = z.object({
  companyId: z.uuid("must be the id of a company"),
  name: nameInput,
  scopes: scopesInput,
  expiresAt: z
    .date()
    .refine((date) => date.getTime() > Date.now(), "must lie in the future")
    .optional(),
  createdBy: z.uuid().optional(),
});

/** What a new key is for; `createdBy` is the id of the user or the key that asks for it. */
export type CreateApiKeyInput = z.input<typeof input>;

/** A new key. `key` is shown here only: it is not stored. */
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
 * Makes an API key of a company.
 *
 * @throws AppError BAD_REQUEST for a bad name, scope or expiry, NOT_FOUND for an unknown company
 */
export async function createApiKey(
  database: Queryable,
  request: CreateApiKeyInput,
): Promise<CreatedApiKey> {
  const { companyId, name, scopes, expiresAt, createdBy } = readInput(input, request);
  const id = newUuid();
  const key = generateApiKey();
  const shown = { id, name, keyPrefix: apiKeyPrefix(key), scopes, expiresAt: expiresAt ?? null };
  const createdAt = await insertApiKey(database, {
    ...shown,
    companyId,
    keyHash: hashApiKey(key),
    createdBy: createdBy ?? null,
  });
  return { ...shown, key, createdAt };
}
