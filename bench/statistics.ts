/**
 * The median of a value of each item; the mean of the two middle values for an even number of items.
 */
export function medianOf<Item>(items: readonly Item[], valueOf: (item: Item) => number): number {
  const sorted = items.map(valueOf).sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/**
 * The smallest value that at least this share of the values does not exceed.
 *
 * @param sorted in ascending order
 * @param share between 0 and 1
 */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
