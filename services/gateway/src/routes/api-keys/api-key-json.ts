import type { Writable } from "../../http/write-json.ts";
import type { ApiKey } from "../../store/api-keys.ts";

/** A key as its company sees it, without the key itself. */
export function apiKeyJson(key: ApiKey): Readonly<Record<string, Writable>> {
  return {
    id: key.id,
    name: key.name,
    keyPrefix: key.keyPrefix,
    scopes: key.scopes,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt,
    lastUsedAt: key.lastUsedAt,
  };
}
