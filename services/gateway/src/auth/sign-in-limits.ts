import { createHash } from "node:crypto";
import type { TryLimit } from "../store/sign-in-tries.ts";

/** The window in which tries to sign in are counted. */
export const TRY_WINDOW_MS = 60_000;
/** For one e-mail address from one network address (D10). */
const TRIES_MAX = 10;
/** For one network address, so that it cannot go through a list of people with one password each. */
const TRIES_PER_ADDRESS_MAX = 100;

/** The limits of a try to sign in. */
export function signInLimits(ipAddress: string | undefined, email: string): TryLimit[] {
  const address = ipAddress ?? "unknown";
  return [
    limit(["address", address], TRIES_PER_ADDRESS_MAX),
    limit(["sign-in", address, email], TRIES_MAX),
  ];
}

/** The limit of a try to name one's current password. */
export function passwordLimits(userId: string): TryLimit[] {
  return [limit(["password", userId], TRIES_MAX)];
}

function limit(subject: readonly string[], max: number): TryLimit {
  const hash = createHash("sha256").update(JSON.stringify(subject)).digest();
  return { subject: hash, max, windowMs: TRY_WINDOW_MS };
}
