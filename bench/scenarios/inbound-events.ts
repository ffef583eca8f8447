import { alternate, pairRows } from "../alternate.ts";
import { startFloor } from "../floors/start-floor.ts";
import { createActiveWorkflow, RUN_INPUT, transform } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const CONNECTIONS = 64;

export const inboundEvents: Scenario = {
  id: "w",
  title: "Inbound webhooks",
  method:
    `POST /webhooks/custom/{companyId}/{path} over ${CONNECTIONS} connections, each of which starts a run of one ` +
    "mapping step, while the runs are executed; in turn with a floor: bare Express, a proxy, and one committed insert " +
    "of the same body behind it. Between two measurements all runs come to their end; the system's CPU includes their " +
    "execution.",
  async measure({ system, load, runs, sizes, scope }) {
    const steps = [transform("take", { orderId: "{{input.orderId}}" })];
    await createActiveWorkflow(system, "Inbound", steps, { type: "webhook", path: "orders" });
    const floor = await startFloor(scope, system, "proxied-write-floor.ts");
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(RUN_INPUT);
    const url = `${system.origin}/webhooks/custom/${system.companyId}/orders`;
    const pairs = await alternate({
      load,
      sizes,
      connections: CONNECTIONS,
      system: { pid: system.pid, request: { url, method: "POST", headers, body } },
      floor: { pid: floor.pid, request: { url: `${floor.url}/in`, method: "POST", headers, body } },
      settle: () => runs.drained(),
    });
    return {
      figures: [
        {
          name: "accepted events, each with its run",
          value: medianOf(pairs, (pair) => pair.system.perSecond),
          unit: "/s",
          target: { atLeast: 3_000 },
        },
        {
          name: "accepted events, beside the floor",
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
