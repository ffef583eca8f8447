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
  /** Its name, the claim `jti`. */
  jti: string;
  /** From then on the token is refused anyway, and its row can be forgotten. */
  expiresAt: Date;
}

/** Below the five seconds in which a revocation counts: reading takes time itself. */
const FRESH_MS = 2_000;
/** What was read longer ago says nothing any more. */
const STALE_MS = 5_000;

/** A token lives a little longer where the clock lags behind that of Postgres. */
const CLOCKS_APART = sql.fragment`interval '1 day'`;

const jtiRow = z.object({ jti: z.string() });
const revokedToken = z.object({ jti: z.string(), expiresAt: z.date() });
const nothing = z.object({});
/** As `mint-token` names them; no token looks like that. */
const JTI = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Reads a service's own list of revoked tokens when one that can be revoked is shown, at most every
 * two seconds however many are; while nobody shows any, never. There are as many rows as tokens were
 * revoked that have not expired, and only the admin command adds any.
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
  /** Those who ask at the same time share one query. Returns why it has failed. */
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

/** What an operator names; the company is known when the token itself was given, and not verified. */
export interface NamedRevocation extends RevokedToken {
  companyId: string | null;
}

/**
 * What is to be revoked: a token, whose signature does not matter here, or the name of one. A row is
 * kept as long as such a token can live. Null when it is neither, or a service's token.
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
