import { alternate, pairRows } from "../alternate.ts";
import { startFloor } from "../floors/start-floor.ts";
import { createActiveWorkflow, RUN_INPUT, runRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const CONNECTIONS = 64;

export const acceptRuns: Scenario = {
  id: "b",
  title: "Accepting runs",
  method:
    `POST /workflows/{id}/run (async, three mapping steps) over ${CONNECTIONS} connections while ` +
    "the accepted runs are executed, in turn with a floor: bare Express, one committed insert of " +
    "the same input. Between two measurements all runs come to their end; the system's CPU " +
    "includes their execution.",
  async measure({ system, load, runs, sizes, scope }) {
    const workflowId = await createActiveWorkflow(system, "Accept");
    const floor = await startFloor(scope, system, "write-floor.ts");
    const pairs = await alternate({
      load,
      sizes,
      connections: CONNECTIONS,
      system: { pid: system.pid, request: runRequest(system, workflowId, "async") },
      floor: {
        pid: floor.pid,
        request: {
          url: `${floor.url}/inputs`,
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(RUN_INPUT),
        },
      },
      settle: () => runs.drained(),
    });
    return {
      figures: [
        {
          name: "accepted runs",
          value: medianOf(pairs, (pair) => pair.system.perSecond),
          unit: "/s",
          target: { atLeast: 2_000 },
        },
        {
          name: "accepted runs, beside the floor",
          value: medianOf(pairs, (pair) => pair.system.perSecond / pair.floor.perSecond),
          unit: "× floor",
        },
        { name: "p50", value: medianOf(pairs, (pair) => pair.system.p50Ms), unit: "ms" },
        { name: "p99", value: medianOf(pairs, (pair) => pair.system.p99Ms), unit: "ms" },
      ],
      rounds: pairRows(pairs),
    };
  },
};
