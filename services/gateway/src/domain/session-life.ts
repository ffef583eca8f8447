const HOUR_MS = 60 * 60 * 1000;

/** A session that nobody uses for so long has ended. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** A session ends after so long however much it is used. */
export const SESSION_LIFE_MS = 7 * 24 * HOUR_MS;

/** When a session ends that is used for the last time at some moment. */
export function sessionExpiry(endsAt: Date, usedAt: Date): Date {
  return new Date(Math.min(endsAt.getTime(), usedAt.getTime() + SESSION_IDLE_MS));
}
