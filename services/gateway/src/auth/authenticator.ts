import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { cacheMetrics } from "@workflow/service";
import type { CacheMetrics, CacheSize } from "@workflow/service";
import type { Registry } from "prom-client";
import { findCredentials } from "../store/api-keys.ts";
import type { ApiKeyCredential } from "../store/api-keys.ts";
import { findSessions } from "../store/sessions.ts";
import type { StoredSession } from "../store/sessions.ts";
import { hashApiKey, looksLikeApiKey } from "./api-key-format.ts";
import type { KnownCaller } from "./caller.ts";
import { createCredentialCache } from "./credential-cache.ts";
import type { IdentityChange } from "../domain/identity-change.ts";
import { SCOPES_BY_ROLE } from "../domain/roles.ts";
import { sessionExpiry } from "../domain/session-life.ts";
import { hashSessionToken, looksLikeSessionToken } from "./session-token.ts";

/** The credentials that a request carries. */
export interface Credentials {
  /** The value of `x-api-key`; where present, it alone decides. */
  apiKey: string | undefined;
  /** The value of the session's cookie. */
  sessionToken: string | undefined;
}

/** Authenticates the sender of a request. */
export interface Authenticator {
  /**
   * Rejects with UNAUTHORIZED when the credential is missing, malformed, unknown, revoked or
   * expired; with UNAVAILABLE when the database cannot tell.
   */
  authenticate(credentials: Credentials): Promise<KnownCaller>;
}

/** An authenticator that caches answers for a few seconds. */
export interface CachingAuthenticator extends Authenticator {
  /** Invalidates the cached callers that a change is about; without a change all of them. */
  invalidate(change?: IdentityChange): void;
}

export interface AuthenticatorOptions {
  database: Database;
  metricsRegistry?: Registry | undefined;
  /** Called for each use of a valid key. */
  onKeyUse: (apiKeyId: string) => void;
  /** Called for each use of a session. */
  onSessionUse: (sessionId: string) => void;
  /** Translates a failed query into the error that the caller gets. */
  toAppError: (error: unknown) => AppError;
}

/** The caller that a credential stands for, and when it expires. */
interface Known {
  caller: KnownCaller;
  expiresAtMs: number;
}

/**
 * An authenticator that asks the database once every few seconds for each credential. It keeps only
 * hashes of credentials.
 */
export function createAuthenticator(options: AuthenticatorOptions): CachingAuthenticator {
  const { database, metricsRegistry, onKeyUse, onSessionUse, toAppError } = options;
  const rejectAsAppError = (error: unknown): never => {
    throw toAppError(error);
  };
  const cacheOf =
    (name: string) =>
    (look: () => CacheSize): CacheMetrics =>
      cacheMetrics(metricsRegistry, name, look);
  const keys = createCredentialCache(async (hashes) => {
    const found = await findCredentials(database, hashes).catch(rejectAsAppError);
    return new Map(found.map((key) => [key.keyHash.toString("base64"), knownKey(key)]));
  }, cacheOf("api_keys"));
  const sessions = createCredentialCache(async (hashes) => {
    const found = await findSessions(database, hashes).catch(rejectAsAppError);
    return new Map(found.map((row) => [row.tokenHash.toString("base64"), knownSession(row)]));
  }, cacheOf("sessions"));

  const authenticateKey = async (apiKey: string): Promise<KnownCaller> => {
    const key = looksLikeApiKey(apiKey) ? await keys.find(hashApiKey(apiKey)) : null;
    if (key === null || key.expiresAtMs <= Date.now()) {
      throw new AppError("UNAUTHORIZED", "The API key is not valid.");
    }
    onKeyUse(key.caller.identity.principal.id);
    return key.caller;
  };
  const authenticateSession = async (token: string): Promise<KnownCaller> => {
    const known = looksLikeSessionToken(token)
      ? await sessions.find(hashSessionToken(token))
      : null;
    if (known === null || known.expiresAtMs <= Date.now()) {
      throw new AppError("UNAUTHORIZED", "The session has ended; sign in again.");
    }
    onSessionUse(known.session.id);
    return known.caller;
  };

  return {
    authenticate({ apiKey, sessionToken }) {
      if (apiKey !== undefined && apiKey !== "") return authenticateKey(apiKey);
      if (apiKey === undefined && sessionToken !== undefined) {
        return authenticateSession(sessionToken);
      }
      const message = "An API key is required in the x-api-key header.";
      return Promise.reject(new AppError("UNAUTHORIZED", message));
    },
    invalidate(change) {
      const isMeant = ({ caller }: Known): boolean =>
        change === undefined || isAbout(change, caller);
      keys.invalidate(isMeant);
      sessions.invalidate(isMeant);
    },
  };
}

function isAbout({ type, id }: IdentityChange, { identity, session }: KnownCaller): boolean {
  switch (type) {
    case "session":
      return session?.id === id;
    case "user":
      return session?.userId === id;
    case "company":
      return identity.companyId === id;
    case "api_key":
      return session === null && identity.principal.id === id;
    default:
      throw new Error(`unknown change: ${String(type satisfies never)}`);
  }
}

function knownKey(credential: ApiKeyCredential): Known {
  const { id, companyId, name, scopes, expiresAt, read, write, execute } = credential;
  return {
    caller: {
      identity: { companyId, principal: { type: "api_key", id, name }, scopes },
      session: null,
      ownLimits: { read, write, execute },
    },
    expiresAtMs: expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime(),
  };
}

function knownSession(stored: StoredSession) {
  const { companyId, lastUsedAt, tokenHash: _hash, read, write, execute, ...session } = stored;
  const { userId, userName, role, endsAt } = session;
  const principal = { type: "user", id: userId, name: userName, role } as const;
  return {
    session,
    caller: {
      identity: { companyId, principal, scopes: SCOPES_BY_ROLE[role] },
      session,
      ownLimits: { read, write, execute },
    },
    expiresAtMs: sessionExpiry(endsAt, lastUsedAt).getTime(),
  };
}
