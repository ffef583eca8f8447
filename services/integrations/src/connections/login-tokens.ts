import type { ProviderManifest } from "@workflow/catalog";
import { LRUCache } from "lru-cache";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { logIn } from "./login.ts";
import type { OpenConnection } from "./open-connection.ts";

/** Tokens for which keys were exchanged. They stay in memory as long as they are valid. */
export interface LoginTokens {
  /**
   * The connection with a token among its credentials. Concurrent callers share one login.
   *
   * @throws LoginFailedError
   */
  addToken(provider: ProviderManifest, connection: OpenConnection): Promise<OpenConnection>;
  /**
   * The connection with a token other than its present one, which the provider has refused.
   *
   * @throws LoginFailedError
   */
  replaceToken(provider: ProviderManifest, connection: OpenConnection): Promise<OpenConnection>;
}

interface HeldToken {
  accessToken: string;
  expiresAtMs: number;
  /** The time after which a new token is requested. */
  renewAtMs: number;
}

const TOKENS_MAX = 10_000;
/** A token is used until this long before its end, or for half of a short life. */
const RENEW_AHEAD_MS = 60_000;
/** The pause after a failed login; otherwise each step of a busy workflow would try again. */
const FAILED_FOR_MS = 1_000;

/** Creates the cache; tokens are requested when connections need them. */
export function createLoginTokens(http: ProviderHttp): LoginTokens {
  const held = new LRUCache<string, HeldToken>({ max: TOKENS_MAX });
  const underWay = new Map<string, Promise<HeldToken>>();
  const failed = new LRUCache<string, Error>({ max: TOKENS_MAX, ttl: FAILED_FOR_MS });

  const getToken = async (
    provider: ProviderManifest,
    connection: OpenConnection,
    refused?: string,
  ): Promise<HeldToken> => {
    // Other keys are another version and need another token.
    const name = `${connection.connectionId} ${connection.version}`;
    const token = held.get(name);
    if (token !== undefined && token.renewAtMs > Date.now() && token.accessToken !== refused) {
      return token;
    }
    const failure = failed.get(name);
    if (failure !== undefined) throw failure;
    const login =
      underWay.get(name) ??
      requestToken(http, provider, connection)
        .then((got) => {
          held.set(name, got);
          return got;
        })
        .catch((error: unknown) => {
          if (error instanceof Error) failed.set(name, error);
          throw error;
        })
        .finally(() => underWay.delete(name));
    underWay.set(name, login);
    // The provider does not answer, but the present token is still valid.
    const holds = token !== undefined && token.accessToken !== refused;
    return holds && token.expiresAtMs > Date.now() ? login.catch(() => token) : login;
  };

  return {
    addToken: async (provider, connection) =>
      withHeld(connection, await getToken(provider, connection)),
    replaceToken: async (provider, connection) =>
      withHeld(
        connection,
        await getToken(provider, connection, connection.credentials["accessToken"]),
      ),
  };
}

async function requestToken(
  http: ProviderHttp,
  provider: ProviderManifest,
  connection: OpenConnection,
): Promise<HeldToken> {
  const startMs = Date.now();
  const { companyId } = connection;
  const token = await logIn(http, provider, { companyId, access: connection });
  if (token === null) throw new Error(`${provider.id} takes the keys themselves.`);
  const lifeMs = token.expiresAtMs - startMs;
  const renewAtMs = token.expiresAtMs - Math.min(RENEW_AHEAD_MS, lifeMs / 2);
  return { ...token, renewAtMs };
}

function withHeld(connection: OpenConnection, token: HeldToken): OpenConnection {
  return {
    ...connection,
    credentials: { ...connection.credentials, accessToken: token.accessToken },
    expiresAt: new Date(token.expiresAtMs),
  };
}
