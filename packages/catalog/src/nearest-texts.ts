/** The most suggestions. */
const SUGGESTIONS_MAX = 3;
/** The longest text to compare. Comparing takes time in proportion to both lengths. */
const CHARS_MAX = 100;

/**
 * The likely candidates for a mistyped text, the nearest first, at most three. A candidate differs in few
 * letters, regardless of case.
 */
export function nearestTexts(text: string, candidates: readonly string[]): string[] {
  if (text.length > CHARS_MAX) return [];
  const wanted = text.toLowerCase();
  return candidates
    .map((candidate) => ({ candidate, distance: distanceOf(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, candidate.length / 3))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SUGGESTIONS_MAX)
    .map(({ candidate }) => candidate);
}

/** The number of insertions, deletions and replacements (Levenshtein distance). */
function distanceOf(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const shorter = (previous[column] ?? 0) + 1;
      const longer = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(replaced, shorter, longer));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
