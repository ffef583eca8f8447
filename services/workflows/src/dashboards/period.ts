const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Of a period and of its buckets. */
export const DURATION_MS_MIN = MINUTE_MS;
export const DURATION_MS_MAX = 366 * DAY_MS;
export const PERIOD_MS_DEFAULT = 7 * DAY_MS;
/** One less than the runs service adds up: a period that begins inside of a bucket touches one more. */
export const BUCKETS_MAX = 499;

/** Lengths of buckets that people know how to read. */
const USUAL_BUCKETS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  DAY_MS,
  7 * DAY_MS,
];
/** As many as a chart has room for. */
const USUAL_BUCKETS_MAX = 60;

/** A time in buckets of one length. */
export interface Period {
  /** Inclusive. */
  from: Date;
  /** Exclusive. */
  to: Date;
  bucketMs: number;
}

/**
 * The whole buckets that the last so many milliseconds touch: from the one in which they begin to the
 * one under way. Buckets begin at full multiples of their length (UTC), so that asking again a little
 * later moves none of them.
 */
export function periodUntil(
  now: Date,
  lengths: { periodMs: number | undefined; bucketMs: number | undefined },
): Period {
  const { periodMs = PERIOD_MS_DEFAULT, bucketMs = usualBucket(periodMs) } = lengths;
  const to = (Math.floor(now.getTime() / bucketMs) + 1) * bucketMs;
  const from = Math.floor((now.getTime() - periodMs) / bucketMs) * bucketMs;
  return { from: new Date(from), to: new Date(to), bucketMs };
}

function usualBucket(periodMs: number): number {
  const fitting = USUAL_BUCKETS_MS.find((bucketMs) => periodMs / bucketMs <= USUAL_BUCKETS_MAX);
  return fitting ?? 7 * DAY_MS;
}
