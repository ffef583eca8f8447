import { startLoad } from "../load-client.ts";
import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Outcome, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const RATE_PER_SECOND = 20;
const CONNECTIONS = 16;
/**
 * The async callers work from this time before the first sync caller until this time after the last.
 */
const MARGIN_MS = 500;

export const mixedCallers: Scenario = {
  id: "s",
  title: "Synchronous runs among asynchronous ones",
  method:
    `${RATE_PER_SECOND} sync runs a second sent at fixed times, while ${CONNECTIONS} connections start ` +
    "async runs (three mapping steps each) as fast as they are accepted.",
  async measure({ system, load, runs, sizes, scope }) {
    const other = startLoad(scope);
    const sync = runRequest(system, await createActiveWorkflow(system, "Mixed sync"), "sync");
    const async = runRequest(system, await createActiveWorkflow(system, "Mixed async"), "async");
    const measure = async (durationMs: number) => {
      const [accepted, answered] = await Promise.all([
        load({
          model: "closed",
          request: async,
          connections: CONNECTIONS,
          stop: { afterMs: durationMs + 2 * MARGIN_MS },
        }),
        new Promise((resolve) => setTimeout(resolve, MARGIN_MS)).then(() =>
          other({ model: "open", request: sync, ratePerSecond: RATE_PER_SECOND, durationMs }),
        ),
      ]);
      await runs.drained();
      return { accepted, answered };
    };
    await measure(sizes.warmUpMs);
    const rounds: Outcome["rounds"] = [];
    for (let round = 0; round < sizes.rounds; round += 1) {
      const { accepted, answered } = await measure(sizes.roundMs);
      rounds.push({
        "sync p50 ms": answered.p50Ms,
        "sync p99 ms": answered.p99Ms,
        "async accepted /s": accepted.perSecond,
      });
    }
    return {
      figures: [
        {
          name: "sync runs among async ones, p50",
          value: medianOf(rounds, (row) => row["sync p50 ms"] ?? Number.NaN),
          unit: "ms",
        },
        {
          name: "async runs accepted beside",
          value: medianOf(rounds, (row) => row["async accepted /s"] ?? Number.NaN),
          unit: "/s",
        },
      ],
      rounds,
    };
  },
};
