import type { Writable } from "../../http/write-json.ts";
import type { ApiKey, KeyMaker, ListedApiKey } from "../../store/api-keys.ts";

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

/** A key in a list, with its creator; null for a key of the admin command. */
export function listedKeyJson(key: ListedApiKey): Writable {
  return { ...apiKeyJson(key), createdBy: makerJson(key.createdBy) };
}

/** A creator that is a key also names the creator of the first key in the chain. */
function makerJson(maker: KeyMaker | null): Writable {
  if (maker === null) return null;
  const { type, id, name, origin } = maker;
  return { type, id, name, ...(origin === null ? {} : { origin }) };
}
