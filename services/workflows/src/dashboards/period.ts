const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The lengths of a period and of its buckets. */
export const DURATION_MS_MIN = MINUTE_MS;
export const DURATION_MS_MAX = 366 * DAY_MS;
export const PERIOD_MS_DEFAULT = 7 * DAY_MS;
/**
 * One less than the runs service sums up: a period that begins inside a bucket touches one more.
 */
export const BUCKETS_MAX = 499;

/** Lengths of buckets that people can read easily. */
const USUAL_BUCKETS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  DAY_MS,
  7 * DAY_MS,
];
/** The number of buckets that fit into a chart. */
const USUAL_BUCKETS_MAX = 60;

/** A period, in buckets of one length. */
export interface Period {
  /** Inclusive. */
  from: Date;
  /** Exclusive. */
  to: Date;
  bucketMs: number;
}

/**
 * The whole buckets that the last milliseconds touch: from the bucket in which the period begins to
 * the current one. Buckets begin at multiples of their length (UTC), so a later call does not move
 * them.
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
