const HOUR_MS = 60 * 60 * 1000;

/** An unused session ends after this time. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** A session ends after this time, however much it is used. */
export const SESSION_LIFE_MS = 7 * 24 * HOUR_MS;

/** The end of a session that is used for the last time at a given moment. */
export function sessionExpiry(endsAt: Date, usedAt: Date): Date {
  return new Date(Math.min(endsAt.getTime(), usedAt.getTime() + SESSION_IDLE_MS));
}
