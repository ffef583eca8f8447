import { alternate, pairRow } from "../alternate.ts";
import { startFloor } from "../floors/start-floor.ts";
import { createActiveWorkflow, RUN_INPUT, runRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";

const CONNECTIONS = 64;

export const acceptRuns: Scenario = {
  id: "b",
  title: "Accepting runs",
  method:
    `POST /workflows/{id}/run (async, three mapping steps) over ${CONNECTIONS} connections while ` +
    "the accepted runs are executed, in turn with a floor: bare Express, one committed insert of " +
    "the same input. Between two measurements all runs come to their end.",
  async measure({ system, load, runs, sizes, scope }) {
    const floorUrl = await startFloor(scope, system, "write-floor.ts");
    const pairs = await alternate({
      load,
      sizes,
      connections: CONNECTIONS,
      system: runRequest(system, await createActiveWorkflow(system, "Accept"), "async"),
      floor: {
        url: `${floorUrl}/inputs`,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(RUN_INPUT),
      },
      settle: runs.drained,
    });
    const ratios = pairs.map((pair) => pair.system.perSecond / pair.floor.perSecond);
    return {
      figures: [
        {
          name: "accepted runs",
          value: median(pairs.map((p) => p.system.perSecond)),
          unit: "/s",
          target: { atLeast: 2_000 },
        },
        { name: "accepted runs, beside the floor", value: median(ratios), unit: "× floor" },
        { name: "p50", value: median(pairs.map((p) => p.system.p50Ms)), unit: "ms" },
        { name: "p99", value: median(pairs.map((p) => p.system.p99Ms)), unit: "ms" },
      ],
      rounds: pairs.map(pairRow),
    };
  },
};
