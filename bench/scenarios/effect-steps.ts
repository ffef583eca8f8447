import { measureRuns } from "../measure-runs.ts";
import { httpCall } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { startReceiver } from "../start-receiver.ts";
import { medianOf } from "../statistics.ts";

const STEPS = 10;
const RATE_PER_SECOND = 5;

export const effectSteps: Scenario = {
  id: "g",
  title: "Recorded effect steps",
  method:
    `${RATE_PER_SECOND} runs a second of one and of ${STEPS} HTTP calls in sequence, in turn, to a ` +
    "local host that answers at once; each result is committed before the next step begins. The " +
    "overhead of a step is the difference of the medians of createdAt → completedAt by " +
    `${STEPS - 1}, less the median of the same call made by the load generator.`,
  async measure(surroundings) {
    const { load, scope, sizes } = surroundings;
    const url = await startReceiver(scope, 0);
    const request = {
      url,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"n":279}',
    } as const;
    const rounds: Outcome["rounds"] = [];
    // The first round warms up.
    for (let round = 0; round <= sizes.rounds; round += 1) {
      const calls = Array.from({ length: STEPS }, (_, index) => httpCall(`s${index}`, url));
      const one = await measureRuns(surroundings, "One", calls.slice(0, 1), RATE_PER_SECOND);
      const all = await measureRuns(surroundings, "All", calls, RATE_PER_SECOND);
      const call = await load({
        model: "open",
        request,
        ratePerSecond: RATE_PER_SECOND * STEPS,
        durationMs: sizes.stepsMs / 2,
      });
      if (round === 0) continue;
      rounds.push({
        "one call p50 ms": one.p50Ms,
        [`${STEPS} calls p50 ms`]: all.p50Ms,
        [`${STEPS} calls p99 ms`]: all.p99Ms,
        "the call itself p50 ms": call.p50Ms,
        "ms a step": (all.p50Ms - one.p50Ms) / (STEPS - 1) - call.p50Ms,
      });
    }
    const median = (column: string) => medianOf(rounds, (row) => row[column] ?? Number.NaN);
    return {
      figures: [
        {
          name: "overhead of an effect step",
          value: median("ms a step"),
          unit: "ms",
          target: { atMost: 5 },
        },
        { name: `run of ${STEPS} calls, p50`, value: median(`${STEPS} calls p50 ms`), unit: "ms" },
        { name: "the call itself, p50", value: median("the call itself p50 ms"), unit: "ms" },
      ],
      rounds,
    };
  },
};
