import { createHash } from "node:crypto";
import type { PauseRule } from "../store/account-tries.ts";
import type { TryLimit } from "../store/sign-in-tries.ts";
import type { Network } from "./network-of.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The window in which tries to sign in are counted. */
export const TRY_WINDOW_MS = MINUTE_MS;
/** For one e-mail address from one network (D10). */
const TRIES_MAX = 10;
/** For one network, so that it cannot go through a list of people with one password each. */
const TRIES_PER_NETWORK_MAX = 100;
/** For one site, which may have 65,536 networks of IPv6. */
const TRIES_PER_SITE_MAX = 1_000;

/**
 * Tries to sign in to one account that do not succeed, over all networks: twenty at once, then the
 * pauses grow. A stranger gets about a hundred tries a day, however many addresses are used, and the
 * person never waits longer than a quarter of an hour.
 */
export const ACCOUNT_PAUSES: PauseRule = {
  freeTries: 20,
  firstPauseMs: 5_000,
  longestPauseMs: 15 * MINUTE_MS,
};
/** So long a network counts as a person's own after a sign-in. */
export const KNOWN_NETWORK_MS = 30 * DAY_MS;
/** One row in the audit log for all refused tries of that time. */
export const REFUSAL_WINDOW_MS = 15 * MINUTE_MS;

/** The limits of tries from a network, whomever they are about. What the first refuses, the second does not count. */
export function networkLimits({ subnet, site }: Network): TryLimit[] {
  const ofSubnet = limit(["address", subnet], TRIES_PER_NETWORK_MAX);
  return site === subnet ? [ofSubnet] : [ofSubnet, limit(["site", site], TRIES_PER_SITE_MAX)];
}

/** The limits of tries of one person from a network (D10). */
export function personLimits({ subnet }: Network, email: string): TryLimit[] {
  return [limit(["sign-in", subnet, email], TRIES_MAX)];
}

/** The limit of a try to name one's current password. */
export function passwordLimits(userId: string): TryLimit[] {
  return [limit(["password", userId], TRIES_MAX)];
}

/** Whom a pause is about: an account from everywhere, or from a network that is known to be its person's. */
export function accountSubject(email: string, network: Buffer | null): Buffer {
  return hashOf(["account", email, network?.toString("hex") ?? null]);
}

/** Whom a pause is about: those who guess the password of an invitation, by its id. */
export function invitationSubject(id: string): Buffer {
  return hashOf(["invitation", id]);
}

/** How a person's network is remembered: not readable, and different for each person. */
export function networkHash({ subnet }: Network, email: string): Buffer {
  return hashOf(["network", subnet, email]);
}

function limit(subject: readonly string[], max: number): TryLimit {
  return { subject: hashOf(subject), max, windowMs: TRY_WINDOW_MS };
}

function hashOf(subject: readonly (string | null)[]): Buffer {
  return createHash("sha256").update(JSON.stringify(subject)).digest();
}
