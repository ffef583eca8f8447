import { measureRuns } from "../measure-runs.ts";
import { transform } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const FEW = 10;
const MANY = 50;
const RATE_PER_SECOND = 20;

/** A chain of steps, each of which uses the output of the step before it. */
function chain(length: number) {
  return Array.from({ length }, (_, index) =>
    transform(`s${index}`, {
      total: index === 0 ? "{{input.total}}" : `{{steps.s${index - 1}.output.total}}`,
      text: "Dear {{input.customer.name}}, order {{input.orderId}}",
    }),
  );
}

export const pureSteps: Scenario = {
  id: "f",
  title: "Pure steps",
  method:
    `${RATE_PER_SECOND} runs a second of ${FEW} and of ${MANY} mapping steps, in turn, each step ` +
    "using the output of the one before. From createdAt to completedAt as stored; the overhead of " +
    `a step is the difference of the medians by ${MANY - FEW}.`,
  async measure(surroundings) {
    const rounds: Outcome["rounds"] = [];
    // The first round warms up.
    for (let round = 0; round <= surroundings.sizes.rounds; round += 1) {
      const few = await measureRuns(surroundings, "Few", chain(FEW), RATE_PER_SECOND);
      const many = await measureRuns(surroundings, "Many", chain(MANY), RATE_PER_SECOND);
      if (round === 0) continue;
      rounds.push({
        [`${FEW} steps p50 ms`]: few.p50Ms,
        [`${MANY} steps p50 ms`]: many.p50Ms,
        [`${FEW} steps p99 ms`]: few.p99Ms,
        [`${MANY} steps p99 ms`]: many.p99Ms,
        "ms a step": (many.p50Ms - few.p50Ms) / (MANY - FEW),
      });
    }
    const median = (column: string) => medianOf(rounds, (row) => row[column] ?? Number.NaN);
    return {
      figures: [
        {
          name: "overhead of a pure step",
          value: median("ms a step"),
          unit: "ms",
          target: { atMost: 1 },
        },
        { name: `run of ${FEW} steps, p50`, value: median(`${FEW} steps p50 ms`), unit: "ms" },
        { name: `run of ${MANY} steps, p50`, value: median(`${MANY} steps p50 ms`), unit: "ms" },
      ],
      rounds,
    };
  },
};
