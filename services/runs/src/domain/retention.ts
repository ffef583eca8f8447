const DAY_MS = 24 * 60 * 60 * 1_000;
/**
 * The margin that keeps a run as long as its idempotency key. A key lives for 24 hours (D25), beginning a
 * moment after its run was accepted.
 */
const MARGIN_MS = 60 * 60 * 1_000;

/** How long ended runs are kept (D58). */
export interface RetentionPolicies {
  /** Days for companies without a policy of their own; 0: for ever. */
  days: number;
  /** Days by company; 0: for ever. */
  byCompany: ReadonlyMap<string, number>;
}

/** The moment before which a company's runs must have been accepted to be removed; null: none may be. */
export function horizonOf(
  { days, byCompany }: RetentionPolicies,
  companyId: string,
  now: Date,
): Date | null {
  const kept = byCompany.get(companyId) ?? days;
  return kept === 0 ? null : horizonAfter(kept, now);
}

/**
 * The moment before which an empty month may be removed: the one of the shortest retention; null: never.
 */
export function emptyHorizon({ days, byCompany }: RetentionPolicies, now: Date): Date | null {
  const shortest = Math.min(...[days, ...byCompany.values()].filter((kept) => kept > 0));
  return shortest === Infinity ? null : horizonAfter(shortest, now);
}

function horizonAfter(days: number, now: Date): Date {
  return new Date(now.getTime() - days * DAY_MS - MARGIN_MS);
}
