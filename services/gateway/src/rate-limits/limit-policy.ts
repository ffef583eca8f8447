import type { KnownCaller } from "../auth/caller.ts";
import type { Bucket, BucketLimits } from "../domain/bucket.ts";
import type { Claimed } from "./messages.ts";
import { CLIENT_PREFIX, GROUP_END } from "./window-store.ts";

export interface LimitPolicy {
  /** Of each key or user. */
  readonly limits: BucketLimits;
  /** Of all keys and users of a company together, in limits of one; 0 is no limit. */
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
 * The windows that a request of a caller counts in: its own, which comes first, and its company's (D9). They
 * are of one group, so that one gateway can tell of both.
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
