import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Identity } from "@workflow/rpc";
import { LRUCache } from "lru-cache";
import { findCredential } from "../store/api-keys.ts";
import type { ApiKeyCredential } from "../store/api-keys.ts";
import { hashApiKey, looksLikeApiKey } from "./api-key-format.ts";

/** Below the 5 s after which a revoked key must be refused (D12): the look-up itself takes time. */
const KNOWN_FOR_MS = 4_000;
const UNKNOWN_FOR_MS = 1_000;
const KEYS_MAX = 10_000;

/** Tells whom an API key speaks for. */
export interface Authenticator {
  /**
   * The identity behind the value of the `x-api-key` header. Rejects with UNAUTHORIZED when it is
   * missing, malformed, unknown, revoked or expired, and with UNAVAILABLE when that cannot be found
   * out.
   */
  authenticate(apiKey: string | undefined): Promise<Identity>;
}

export interface AuthenticatorOptions {
  database: Database;
  /** Hears of each use of a valid key. */
  onUse: (apiKeyId: string) => void;
  /** Turns a failed query into what the caller is told. */
  toAppError: (error: unknown) => AppError;
}

interface KnownKey {
  identity: Identity;
  expiresAtMs: number;
}

/**
 * An authenticator that asks the database once every few seconds a key. Unknown keys are remembered
 * apart from the valid ones, so that guessing cannot push those out.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { database, onUse, toAppError } = options;
  const known = new LRUCache<string, KnownKey>({ max: KEYS_MAX, ttl: KNOWN_FOR_MS });
  const unknown = new LRUCache<string, true>({ max: KEYS_MAX, ttl: UNKNOWN_FOR_MS });
  const lookups = new Map<string, Promise<KnownKey | null>>();

  const lookUp = async (keyHash: Buffer, cacheKey: string): Promise<KnownKey | null> => {
    // The age of an answer counts from the question: a key may be revoked while it is under way.
    const start = performance.now();
    try {
      const credential = await findCredential(database, keyHash);
      if (credential === null) {
        unknown.set(cacheKey, true);
        return null;
      }
      const key = toKnownKey(credential);
      known.set(cacheKey, key, { start });
      return key;
    } catch (error) {
      throw toAppError(error);
    } finally {
      lookups.delete(cacheKey);
    }
  };

  return {
    async authenticate(apiKey) {
      if (apiKey === undefined || apiKey === "") {
        throw new AppError("UNAUTHORIZED", "An API key is required in the x-api-key header.");
      }
      if (!looksLikeApiKey(apiKey)) throw invalidKey();
      const keyHash = hashApiKey(apiKey);
      const cacheKey = keyHash.toString("base64");
      let key = known.get(cacheKey) ?? null;
      if (key === null) {
        if (unknown.has(cacheKey)) throw invalidKey();
        let lookup = lookups.get(cacheKey);
        if (lookup === undefined) {
          lookup = lookUp(keyHash, cacheKey);
          lookups.set(cacheKey, lookup);
        }
        key = await lookup;
      }
      if (key === null || key.expiresAtMs <= Date.now()) throw invalidKey();
      onUse(key.identity.principal.id);
      return key.identity;
    },
  };
}

function toKnownKey({ id, companyId, name, scopes, expiresAt }: ApiKeyCredential): KnownKey {
  return {
    identity: { companyId, principal: { type: "api_key", id, name }, scopes },
    expiresAtMs: expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime(),
  };
}

function invalidKey(): AppError {
  return new AppError("UNAUTHORIZED", "The API key is not valid.");
}
