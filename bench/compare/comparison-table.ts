import { formatNumber, table } from "../report.ts";
import { medianOf } from "../statistics.ts";
import { figuresOfTurns } from "./join-turns.ts";
import type { Turn } from "./join-turns.ts";

/** A commit and its turns, in the order of their measurement. */
interface Compared {
  commit: string;
  turns: readonly Turn[];
}

/** With fewer pairs, all agree by chance too often. */
const PAIRS_THAT_TELL = 4;

/**
 * The ratio of each figure as Markdown: the median of the pairs' ratios. The first turns of both commits make a
 * pair, the second turns the next one. A difference is named where all of at least four pairs agree on its
 * direction.
 */
export function formatComparison(a: Compared, b: Compared): string {
  const ofB = figuresOfTurns(b.turns);
  const rows = figuresOfTurns(a.turns).map(({ scenario, figure, values }, index) => {
    const others = ofB[index]?.values ?? [];
    const ratios = values.map((value, turn) => (others[turn] ?? Number.NaN) / value);
    const [lowest, highest] = [Math.min(...ratios), Math.max(...ratios)];
    return [
      scenario.id,
      figure.name,
      ...[values, others].map((side) => `${formatNumber(median(side))} ${figure.unit}`),
      median(ratios).toFixed(3),
      `${lowest.toFixed(3)} to ${highest.toFixed(3)}`,
      describeDifference(ratios),
    ];
  });
  const pairs = a.turns.length;
  return [
    `${a.commit} (A) and ${b.commit} (B), ${pairs} ${pairs === 1 ? "pair" : "pairs"}`,
    table(["", "figure", "A", "B", "B ÷ A", "lowest to highest", ""], rows),
  ].join("\n\n");
}

function describeDifference(ratios: readonly number[]): string {
  if (ratios.length < PAIRS_THAT_TELL) return "too few pairs";
  if (ratios.every((ratio) => ratio > 1)) return "B has more";
  return ratios.every((ratio) => ratio < 1) ? "B has less" : "no difference seen";
}

function median(values: readonly number[]): number {
  return medianOf(values, (value) => value);
}
