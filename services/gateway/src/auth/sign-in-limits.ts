import { createHash } from "node:crypto";
import type { PauseRule } from "../store/account-tries.ts";
import type { TryLimit } from "../store/sign-in-tries.ts";
import type { Network } from "./network-of.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The window in which sign-in attempts are counted. */
export const TRY_WINDOW_MS = MINUTE_MS;
/** For one e-mail address from one network (D10). */
const TRIES_MAX = 10;
/** For one network, so that it cannot try one password on each person of a list. */
const TRIES_PER_NETWORK_MAX = 100;
/** For one site, which may have 65,536 IPv6 networks. */
const TRIES_PER_SITE_MAX = 1_000;

/**
 * Failed sign-in attempts for one account, from all networks: twenty at once, then growing pauses.
 * A stranger gets about a hundred attempts a day, from however many addresses. The person never
 * waits longer than a quarter of an hour.
 */
export const ACCOUNT_PAUSES: PauseRule = {
  freeTries: 20,
  firstPauseMs: 5_000,
  longestPauseMs: 15 * MINUTE_MS,
};
/** How long a network counts as a person's own after a sign-in. */
export const KNOWN_NETWORK_MS = 30 * DAY_MS;
/** The interval in which all refused attempts share one row of the audit log. */
export const REFUSAL_WINDOW_MS = 15 * MINUTE_MS;

/**
 * The limits of a network's attempts, whichever accounts they name. An attempt that the first limit
 * refuses does not count against the second.
 */
export function networkLimits({ subnet, site }: Network): TryLimit[] {
  const ofSubnet = limit(["address", subnet], TRIES_PER_NETWORK_MAX);
  return site === subnet ? [ofSubnet] : [ofSubnet, limit(["site", site], TRIES_PER_SITE_MAX)];
}

/** The limits of attempts for one account from one network (D10). */
export function personLimits({ subnet }: Network, email: string): TryLimit[] {
  return [limit(["sign-in", subnet, email], TRIES_MAX)];
}

/** The limit of attempts to confirm one's current password. */
export function passwordLimits(userId: string): TryLimit[] {
  return [limit(["password", userId], TRIES_MAX)];
}

/**
 * The key of a pause: an account for all networks, or for a network that is known to be its
 * person's.
 */
export function accountSubject(email: string, network: Buffer | null): Buffer {
  return hashOf(["account", email, network?.toString("hex") ?? null]);
}

/** The key of a pause for those who guess the password of an invitation, by its id. */
export function invitationSubject(id: string): Buffer {
  return hashOf(["invitation", id]);
}

/** The stored form of a person's network: a digest, different for each person. */
export function networkHash({ subnet }: Network, email: string): Buffer {
  return hashOf(["network", subnet, email]);
}

function limit(subject: readonly string[], max: number): TryLimit {
  return { subject: hashOf(subject), max, windowMs: TRY_WINDOW_MS };
}

function hashOf(subject: readonly (string | null)[]): Buffer {
  return createHash("sha256").update(JSON.stringify(subject)).digest();
}
