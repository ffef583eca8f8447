import { alternate, pairRow } from "../alternate.ts";
import { startFloor } from "../floors/start-floor.ts";
import { createActiveWorkflow, fetchText, getWorkflowRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";

const CONNECTIONS = 16;

export const getWorkflow: Scenario = {
  id: "a",
  title: "Reading a workflow",
  method:
    `GET /workflows/{id} over ${CONNECTIONS} connections, in turn with a floor that answers the ` +
    "same body: bare Express, one gRPC hop, one prepared select by primary key.",
  async measure({ system, load, sizes, scope }) {
    const request = getWorkflowRequest(system, await createActiveWorkflow(system, "Read"));
    const floorUrl = await startFloor(scope, system, "read-floor.ts", await fetchText(request));
    const pairs = await alternate({
      load,
      sizes,
      connections: CONNECTIONS,
      system: request,
      floor: {
        url: `${floorUrl}/documents/00000000-0000-7000-8000-000000000000`,
        method: "GET",
        headers: {},
      },
    });
    const ratios = pairs.map((pair) => pair.system.perSecond / pair.floor.perSecond);
    return {
      figures: [
        {
          name: "requests, beside the floor",
          value: median(ratios),
          unit: "× floor",
          target: { atLeast: 0.6 },
        },
        { name: "requests", value: median(pairs.map((p) => p.system.perSecond)), unit: "/s" },
        { name: "p50", value: median(pairs.map((p) => p.system.p50Ms)), unit: "ms" },
        { name: "p99", value: median(pairs.map((p) => p.system.p99Ms)), unit: "ms" },
      ],
      rounds: pairs.map(pairRow),
    };
  },
};
