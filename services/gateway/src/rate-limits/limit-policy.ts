import type { KnownCaller } from "../auth/caller.ts";
import type { Bucket, BucketLimits } from "../domain/bucket.ts";
import type { Claimed } from "./messages.ts";
import { CLIENT_PREFIX, GROUP_END } from "./window-store.ts";

export interface LimitPolicy {
  /** The limits of each key or user. */
  readonly limits: BucketLimits;
  /**
   * The limit of a company's keys and users together, as a multiple of a single limit; 0 is no limit.
   */
  readonly companyFactor: number;
}

/** The limit that holds for a caller; 0 is none. */
export function limitOf(
  { limits }: LimitPolicy,
  { ownLimits }: KnownCaller,
  bucket: Bucket,
): number {
  return ownLimits[bucket] ?? limits[bucket];
}

/**
 * The windows that a request counts in (D9): first the caller's own, then its company's. Both have one group, so
 * one gateway decides about both.
 */
export function claimsOf(
  { companyFactor }: LimitPolicy,
  { identity, session }: KnownCaller,
  bucket: Bucket,
  max: number,
): Claimed[] {
  const company = `${identity.companyId}${GROUP_END}${bucket}`;
  const id = session === null ? identity.principal.id : session.userId;
  const own: Claimed = [`${company}${GROUP_END}${id}`, max];
  return companyFactor === 0 ? [own] : [own, [company, max * companyFactor]];
}

/** The window of a client who sends webhooks. */
export function inboundClaim(client: string, max: number): Claimed {
  return [`${CLIENT_PREFIX}${client}${GROUP_END}inbound`, max];
}
