import { alternate, pairRows } from "../alternate.ts";
import { startFloor } from "../floors/start-floor.ts";
import { createActiveWorkflow, fetchText, getWorkflowRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const CONNECTIONS = 16;

export const getWorkflow: Scenario = {
  id: "a",
  title: "Reading a workflow",
  method:
    `GET /workflows/{id} over ${CONNECTIONS} connections, in turn with a floor that answers the ` +
    "same body: bare Express, one gRPC hop, one prepared select by primary key. CPU is the " +
    "processor time of the one Node process per request.",
  async measure({ system, load, sizes, scope }) {
    const request = getWorkflowRequest(system, await createActiveWorkflow(system, "Read"));
    const floor = await startFloor(scope, system, "read-floor.ts", await fetchText(request));
    const pairs = await alternate({
      load,
      sizes,
      connections: CONNECTIONS,
      system: { pid: system.pid, request },
      floor: {
        pid: floor.pid,
        request: {
          url: `${floor.url}/documents/00000000-0000-7000-8000-000000000000`,
          method: "GET",
          headers: {},
        },
      },
    });
    return {
      figures: [
        {
          name: "requests, beside the floor",
          value: medianOf(pairs, (pair) => pair.system.perSecond / pair.floor.perSecond),
          unit: "× floor",
          target: { atLeast: 0.6 },
        },
        { name: "requests", value: medianOf(pairs, (p) => p.system.perSecond), unit: "/s" },
        { name: "p50", value: medianOf(pairs, (p) => p.system.p50Ms), unit: "ms" },
        { name: "p99", value: medianOf(pairs, (p) => p.system.p99Ms), unit: "ms" },
        {
          name: "CPU, beside the floor",
          value: medianOf(pairs, (p) => p.system.cpuUs / p.floor.cpuUs),
          unit: "× floor",
        },
      ],
      rounds: pairRows(pairs),
    };
  },
};
