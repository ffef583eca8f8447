import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Figure, Outcome, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const RATE_PER_SECOND = 20;
const CONNECTIONS = [16, 64] as const;

export const syncRuns: Scenario = {
  id: "e",
  title: "Synchronous runs",
  method:
    "POST /workflows/{id}/run with mode sync, three mapping steps, as the caller sees it: " +
    `${RATE_PER_SECOND} a second sent at fixed times, then as many as ${CONNECTIONS.join(" and ")} ` +
    "connections can do.",
  async measure({ system, load, sizes }) {
    const request = runRequest(system, await createActiveWorkflow(system, "Sync"), "sync");
    const saturate = (connections: number, afterMs: number) =>
      load({ model: "closed", request, connections, stop: { afterMs } });
    await saturate(CONNECTIONS[0], sizes.warmUpMs);
    const steady = await load({
      model: "open",
      request,
      ratePerSecond: RATE_PER_SECOND,
      durationMs: sizes.syncLatencyMs,
    });
    const rounds: Outcome["rounds"] = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      const row: Record<string, number> = {};
      for (const connections of CONNECTIONS) {
        const { perSecond, p50Ms, p99Ms } = await saturate(connections, sizes.roundMs);
        row[`${connections}: completed /s`] = perSecond;
        row[`${connections}: p50 ms`] = p50Ms;
        row[`${connections}: p99 ms`] = p99Ms;
      }
      rounds.push(row);
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
        ...CONNECTIONS.flatMap((connections): Figure[] => [
          {
            name: `completed over ${connections} connections`,
            value: medianOf(rounds, (row) => row[`${connections}: completed /s`] ?? Number.NaN),
            unit: "/s",
          },
          {
            name: `p50 over ${connections} connections`,
            value: medianOf(rounds, (row) => row[`${connections}: p50 ms`] ?? Number.NaN),
            unit: "ms",
          },
        ]),
      ],
      rounds,
    };
  },
};
