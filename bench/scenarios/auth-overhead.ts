import { join } from "node:path";
import { alternate, pairRows } from "../alternate.ts";
import { startHelper } from "../child-process.ts";
import { floorReady } from "../floors/floor.ts";
import type { GatewayStart } from "../floors/gateway.ts";
import { createActiveWorkflow, getWorkflowRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";
import type { System } from "../system.ts";

const CONNECTIONS = 16;

export const authOverhead: Scenario = {
  id: "l",
  title: "Authentication",
  method:
    `GET /workflows/{id} over ${CONNECTIONS} connections, by two gateways in turn that differ in ` +
    "one thing: one finds out whose key it is, the other takes everybody for the same caller.",
  async measure({ system, load, sizes, scope }) {
    const { headers, url, method } = getWorkflowRequest(
      system,
      await createActiveWorkflow(system, "Authentication"),
    );
    const target = async (authenticates: boolean) => {
      const helper = startHelper(scope, "floors/gateway.ts");
      const gateway = await helper.ask(startOf(system, authenticates), floorReady);
      const { pathname } = new URL(url);
      return { pid: gateway.pid, request: { url: gateway.url + pathname, method, headers } };
    };
    const pairs = await alternate({
      load,
      sizes,
      connections: CONNECTIONS,
      system: await target(true),
      floor: await target(false),
    });
    return {
      figures: [
        {
          name: "requests, beside those without authentication",
          value: medianOf(pairs, (pair) => pair.system.perSecond / pair.floor.perSecond),
          unit: "× floor",
          target: { atLeast: 0.9 },
        },
        { name: "requests", value: medianOf(pairs, (p) => p.system.perSecond), unit: "/s" },
        {
          name: "CPU, beside that without authentication",
          value: medianOf(pairs, (p) => p.system.cpuUs / p.floor.cpuUs),
          unit: "× floor",
        },
      ],
      rounds: pairRows(pairs),
    };
  },
};

function startOf(system: System, authenticates: boolean): GatewayStart {
  const { databaseUrl, workflowsGrpcAddress, apiKey, dataDir } = system;
  const signingKeyFile = join(dataDir, "keys/internal-token-gateway.pem");
  return { databaseUrl, workflowsGrpcAddress, apiKey, signingKeyFile, authenticates };
}
