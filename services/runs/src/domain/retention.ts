const DAY_MS = 24 * 60 * 60 * 1_000;
/** An idempotency key that names a run lives for 24 hours from a moment after the run's (D25). */
const MARGIN_MS = 60 * 60 * 1_000;

/** How long ended runs are kept (D58). */
export interface RetentionPolicies {
  /** Days, for companies without a policy of their own; 0: for ever. */
  days: number;
  /** Days by company; 0: for ever. */
  byCompany: ReadonlyMap<string, number>;
}

/** Runs of a company that were accepted before this moment may go; null: none. */
export function horizonOf(
  { days, byCompany }: RetentionPolicies,
  companyId: string,
  now: Date,
): Date | null {
  const kept = byCompany.get(companyId) ?? days;
  return kept === 0 ? null : horizonAfter(kept, now);
}

/** A month without runs may go when it is over for those who keep theirs shortest; null: never. */
export function emptyHorizon({ days, byCompany }: RetentionPolicies, now: Date): Date | null {
  const shortest = Math.min(...[days, ...byCompany.values()].filter((kept) => kept > 0));
  return shortest === Infinity ? null : horizonAfter(shortest, now);
}

function horizonAfter(days: number, now: Date): Date {
  return new Date(now.getTime() - days * DAY_MS - MARGIN_MS);
}
