import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { decodeJwt } from "jose";
import { z } from "zod";
import { isRevocable, isTokenIssuer, MINTED_LIFE_SECONDS_MAX } from "./token-issuers.ts";
import type { TokenAudience } from "./token-issuers.ts";

/** Tells which tokens were taken back. */
export interface RevokedTokens {
  /**
   * Whether the token of this name was revoked, as of five seconds ago at most. Rejects with
   * UNAVAILABLE when that cannot be found out.
   */
  has(jti: string): Promise<boolean>;
}

/** A token that is not to be accepted any more. */
export interface RevokedToken {
  /** The token's name, the claim `jti`. */
  jti: string;
  /** The time from which the token is refused anyway, and its row can be deleted. */
  expiresAt: Date;
}

/** Below the five seconds in which a revocation counts: reading takes time itself. */
const FRESH_MS = 2_000;
/** An older list says nothing any more. */
const STALE_MS = 5_000;

/** A token lives a little longer where the clock lags behind that of Postgres. */
const CLOCKS_APART = sql.fragment`interval '1 day'`;

const jtiRow = z.object({ jti: z.string() });
const nothing = z.object({});
/** The form of the names that `mint-token` gives; no token looks like that. */
const JTI = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Reads a service's own list of revoked tokens when a caller shows a revocable one, every two
 * seconds at most. A list that nobody needs is not read. The list has a row for each revoked token
 * that has not expired, and only the admin command adds rows.
 *
 * @param now a clock in milliseconds that never goes back
 */
export function createRevokedTokens(
  database: Queryable,
  schema: TokenAudience,
  now: () => number = () => performance.now(),
): RevokedTokens {
  let revoked: ReadonlySet<string> = new Set();
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<unknown> | null = null;

  const read = async (): Promise<void> => {
    // The age of an answer counts from the question: a revocation may overtake it.
    const askedAt = now();
    revoked = new Set(await listRevokedTokens(database, schema));
    readAt = askedAt;
  };
  /** Questions at the same time share one query. Returns the reason for which the query failed. */
  const refresh = (): Promise<unknown> => {
    reading ??= read()
      .catch((error: unknown) => error)
      .finally(() => (reading = null));
    return reading;
  };

  return {
    async has(jti) {
      if (now() - readAt >= FRESH_MS) {
        const failure = await refresh();
        if (now() - readAt >= STALE_MS) throw uncertain(failure);
      }
      return revoked.has(jti);
    },
  };
}

/** The names of the tokens that were revoked and would be accepted otherwise. */
async function listRevokedTokens(
  queryable: Queryable,
  schema: TokenAudience,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.prepared(`revoked_tokens_list_${schema}`, jtiRow)`
    select jti from ${sql.identifier([schema, "revoked_tokens"])}
    where expires_at > now() - ${CLOCKS_APART}
  `);
  return rows.map(({ jti }) => jti);
}

/**
 * The token that an operator names. The company is known when the operator gave the token itself;
 * nobody has verified it.
 */
export interface NamedRevocation extends RevokedToken {
  companyId: string | null;
}

/**
 * Parses the revocation of a token, whose signature does not matter here, or of a token's name. A
 * row is kept as long as such a token can live. Null for any other text, and for a service's token.
 */
export function parseRevocation(tokenOrJti: string, now: Date): NamedRevocation | null {
  const latestMs = now.getTime() + MINTED_LIFE_SECONDS_MAX * 1000;
  if (JTI.test(tokenOrJti)) {
    return { jti: tokenOrJti, expiresAt: new Date(latestMs), companyId: null };
  }
  try {
    const { jti, exp, iss, cid } = decodeJwt(tokenOrJti);
    if (jti === undefined || exp === undefined || !JTI.test(jti)) return null;
    if (!isTokenIssuer(iss) || !isRevocable(iss)) return null;
    const companyId = typeof cid === "string" ? cid : null;
    return { jti, expiresAt: new Date(Math.min(exp * 1000, latestMs)), companyId };
  } catch {
    return null;
  }
}

/** Revokes a token at one service. May be repeated; the later end counts. */
export async function insertRevokedToken(
  queryable: Queryable,
  schema: TokenAudience,
  { jti, expiresAt }: RevokedToken,
): Promise<void> {
  const table = sql.identifier([schema, "revoked_tokens"]);
  await queryable.query(sql.type(nothing)`
    insert into ${table} as known (jti, expires_at)
    values (${jti}, ${expiresAt.toISOString()}::timestamptz)
    on conflict (jti) do update set expires_at = greatest(known.expires_at, excluded.expires_at)
  `);
}

/** Forgets the tokens that have expired since they were revoked. */
export async function deleteExpiredRevocations(
  queryable: Queryable,
  schema: TokenAudience,
): Promise<void> {
  await queryable.query(sql.type(nothing)`
    delete from ${sql.identifier([schema, "revoked_tokens"])}
    where expires_at < now() - ${CLOCKS_APART}
  `);
}

function uncertain(cause: unknown): AppError {
  return new AppError("UNAVAILABLE", "The access token cannot be checked at the moment.", {
    internal: "the list of revoked tokens cannot be read",
    ...(cause === undefined ? {} : { cause }),
  });
}
