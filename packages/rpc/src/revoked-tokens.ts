import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { decodeJwt } from "jose";
import { z } from "zod";
import { isRevocable, isTokenIssuer, MINTED_LIFE_SECONDS_MAX } from "./token-issuers.ts";
import type { TokenAudience } from "./token-issuers.ts";

/** Tells which tokens were revoked. */
export interface RevokedTokens {
  /**
   * Whether the token of this name was revoked. The answer is at most five seconds old.
   *
   * @throws AppError UNAVAILABLE when the list cannot be read
   */
  has(jti: string): Promise<boolean>;
}

/** A revoked token. */
export interface RevokedToken {
  /** The token's name, the claim `jti`. */
  jti: string;
  /** The token's expiry; afterwards its row can be forgotten. */
  expiresAt: Date;
}

/** The interval is below the five seconds after which a revocation applies, as reading takes time itself. */
const FRESH_MS = 2_000;
/** The age at which a list is too old to use. */
const STALE_MS = 5_000;

/** A token lives a little longer where a clock lags behind that of Postgres. */
const CLOCKS_APART = sql.fragment`interval '1 day'`;

const jtiRow = z.object({ jti: z.string() });
const revokedToken = z.object({ jti: z.string(), expiresAt: z.date() });
const nothing = z.object({});
/** The form of names that `mint-token` gives; no token has this form. */
const JTI = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Reads a service's own list of revoked tokens when a call shows a revocable token, at most every two
 * seconds. The list has a row for each revoked token that has not expired; only the admin command adds rows.
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
    // The age of an answer counts from the question, since a revocation may overtake the answer.
    const askedAt = now();
    revoked = new Set(await listRevokedTokens(database, schema));
    readAt = askedAt;
  };
  /** Concurrent calls share one query. Returns the reason of a failure. */
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

/** The names of revoked tokens that would be accepted otherwise. */
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

/** The revoked tokens of a service that have not expired. */
export function listRevocationsOf(
  queryable: Queryable,
  schema: TokenAudience,
): Promise<readonly RevokedToken[]> {
  return queryable.any(sql.type(revokedToken)`
    select jti, expires_at as "expiresAt" from ${sql.identifier([schema, "revoked_tokens"])}
    where expires_at > now() - ${CLOCKS_APART}
    order by jti
  `);
}

/**
 * The token that an operator names. The company comes from a given token, unverified; a name alone has none.
 */
export interface NamedRevocation extends RevokedToken {
  companyId: string | null;
}

/**
 * Parses the argument of a revocation: a token, whose signature is not checked, or the name of one. The row
 * is kept until such a token expires. Null for other texts, and for a service's token.
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

/** Revokes a token at one service. Repeating a revocation is harmless; the later expiry counts. */
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

/** Deletes the rows of revoked tokens that have expired. */
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
