import { measureRuns } from "../measure-runs.ts";
import { httpCall } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { startReceiver } from "../start-receiver.ts";
import { medianOf } from "../statistics.ts";

const CALLS = 50;
const ANSWER_MS = 100;

export const parallelCalls: Scenario = {
  id: "i",
  title: "Calls in parallel",
  method:
    `One run a second with a parallel step over ${CALLS} items, each an HTTP call that a local host ` +
    `answers after ${ANSWER_MS} ms; every result is recorded. From createdAt to completedAt as ` +
    "stored.",
  async measure(surroundings) {
    const url = await startReceiver(surroundings.scope, ANSWER_MS);
    const forEach = Array.from({ length: CALLS }, (_, index) => index);
    const steps = [
      {
        id: "fan",
        type: "parallel",
        name: "fan",
        config: { forEach, concurrency: CALLS, steps: [httpCall("call", url)] },
      },
    ];
    const rounds: Outcome["rounds"] = [];
    // The first round warms up.
    for (let round = 0; round <= surroundings.sizes.rounds; round += 1) {
      const { p50Ms, p99Ms } = await measureRuns(surroundings, "Parallel", steps, 1);
      if (round > 0) rounds.push({ "p50 ms": p50Ms, "p99 ms": p99Ms });
    }
    const p50Ms = medianOf(rounds, (row) => row["p50 ms"] ?? Number.NaN);
    return {
      figures: [
        { name: `run of ${CALLS} calls, p50`, value: p50Ms, unit: "ms" },
        { name: "beyond one call, p50", value: p50Ms - ANSWER_MS, unit: "ms" },
      ],
      rounds,
    };
  },
};
