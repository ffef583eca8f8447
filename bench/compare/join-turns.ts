import type { Measured } from "../report.ts";
import type { Figure } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

/** The result of one start of a system. */
export interface Turn {
  startedInMs: number;
  measured: readonly Measured[];
}

/** A figure of one scenario, with its value in each turn. */
export interface FigureOfTurns {
  scenario: Measured["scenario"];
  figure: Figure;
  values: number[];
}

/** All figures of the turns of one commit. Every turn measures the same scenarios. */
export function figuresOfTurns(turns: readonly Turn[]): FigureOfTurns[] {
  const [first] = turns;
  if (first === undefined) return [];
  return first.measured.flatMap(({ scenario, outcome }) =>
    outcome.figures.map((figure) => ({
      scenario,
      figure,
      values: turns.map((turn) => valueIn(turn, scenario.id, figure.name)),
    })),
  );
}

/** The turns as one measurement: the median of each figure, and all rounds. */
export function joinTurns(turns: readonly Turn[]): Turn {
  const figures = figuresOfTurns(turns);
  const scenarios = turns[0]?.measured.map(({ scenario }) => scenario) ?? [];
  const measured = scenarios.map((scenario): Measured => {
    const own = figures.filter((one) => one.scenario.id === scenario.id);
    return {
      scenario,
      outcome: {
        figures: own.map(({ figure, values }) => ({
          ...figure,
          value: medianOf(values, (value) => value),
        })),
        rounds: turns.flatMap((turn) => measuredIn(turn, scenario.id)?.outcome.rounds ?? []),
      },
    };
  });
  return { startedInMs: medianOf(turns, (turn) => turn.startedInMs), measured };
}

function valueIn(turn: Turn, scenarioId: string, name: string): number {
  const figures = measuredIn(turn, scenarioId)?.outcome.figures ?? [];
  return figures.find((figure) => figure.name === name)?.value ?? Number.NaN;
}

function measuredIn({ measured }: Turn, scenarioId: string): Measured | undefined {
  return measured.find(({ scenario }) => scenario.id === scenarioId);
}
