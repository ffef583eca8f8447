import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const RATE_PER_SECOND = 20;
const CONNECTIONS = 16;

export const syncRuns: Scenario = {
  id: "e",
  title: "Synchronous runs",
  method:
    "POST /workflows/{id}/run with mode sync, three mapping steps, as the caller sees it: " +
    `${RATE_PER_SECOND} a second sent at fixed times, then as many as ${CONNECTIONS} connections ` +
    "can do.",
  async measure({ system, load, sizes }) {
    const request = runRequest(system, await createActiveWorkflow(system, "Sync"), "sync");
    const saturate = (afterMs: number) =>
      load({ model: "closed", request, connections: CONNECTIONS, stop: { afterMs } });
    await saturate(sizes.warmUpMs);
    const steady = await load({
      model: "open",
      request,
      ratePerSecond: RATE_PER_SECOND,
      durationMs: sizes.syncLatencyMs,
    });
    const rounds: Outcome["rounds"] = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      const { perSecond, p50Ms, p99Ms } = await saturate(sizes.roundMs);
      rounds.push({ "completed /s": perSecond, "p50 ms": p50Ms, "p99 ms": p99Ms });
    }
    return {
      figures: [
        {
          name: `p50 at ${RATE_PER_SECOND}/s`,
          value: steady.p50Ms,
          unit: "ms",
          target: { atMost: 12 },
        },
        { name: `p99 at ${RATE_PER_SECOND}/s`, value: steady.p99Ms, unit: "ms" },
        {
          name: `completed over ${CONNECTIONS} connections`,
          value: medianOf(rounds, (round) => round["completed /s"] ?? Number.NaN),
          unit: "/s",
        },
      ],
      rounds,
    };
  },
};
