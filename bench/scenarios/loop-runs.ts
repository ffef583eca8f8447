import { measureRuns } from "../measure-runs.ts";
import { transform } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const ITERATIONS = 1_000;

export const loopRuns: Scenario = {
  id: "h",
  title: "A loop",
  method:
    `One run a second with a loop of ${ITERATIONS} iterations over one mapping step; every ` +
    "iteration's result is stored. From createdAt to completedAt as stored.",
  async measure(surroundings) {
    const steps = [
      {
        id: "loop",
        type: "loop",
        name: "loop",
        config: {
          count: ITERATIONS,
          steps: [transform("square", { index: "{{loop.index}}", total: "{{input.total}}" })],
        },
      },
      transform("last", "{{steps.square.output.index}}"),
    ];
    const rounds: Outcome["rounds"] = [];
    // The first round warms up.
    for (let round = 0; round <= surroundings.sizes.rounds; round += 1) {
      const { p50Ms, p99Ms } = await measureRuns(surroundings, "Loop", steps, 1);
      if (round === 0) continue;
      rounds.push({ "p50 ms": p50Ms, "p99 ms": p99Ms, "ms an iteration": p50Ms / ITERATIONS });
    }
    const median = (column: string) => medianOf(rounds, (row) => row[column] ?? Number.NaN);
    return {
      figures: [
        { name: `run of ${ITERATIONS} iterations, p50`, value: median("p50 ms"), unit: "ms" },
        {
          name: "an iteration of one pure step",
          value: median("ms an iteration"),
          unit: "ms",
          target: { atMost: 1 },
        },
      ],
      rounds,
    };
  },
};
