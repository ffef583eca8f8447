import { createServer } from "node:http";
import { once } from "node:events";
import type { Scope } from "@workflow/async";
import { alternate, pairRows } from "../alternate.ts";
import type { Target } from "../alternate.ts";
import { createActiveWorkflow, runRequest } from "../rest.ts";
import type { Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";
import { startSystem } from "../system.ts";
import type { System } from "../system.ts";

const CONNECTIONS = 16;
const RATIO = "0.01";

export const tracing: Scenario = {
  id: "bb",
  title: "Tracing",
  method:
    `Sync runs over ${CONNECTIONS} connections, by two systems in turn that differ in one thing: one records ` +
    "1 % of its traces and sends them to a collector on this machine, the other has none.",
  async measure({ system, load, sizes, scope }) {
    const endpoint = await startCollector(scope);
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: RATIO };
    const traced = await startSystem(scope, { repository: system.repository, settings });
    const pairs = await alternate({
      load,
      sizes,
      connections: CONNECTIONS,
      system: await target(traced),
      floor: await target(system),
    });
    return {
      figures: [
        {
          name: "completed runs, beside those without tracing",
          value: medianOf(pairs, (pair) => pair.system.perSecond / pair.floor.perSecond),
          unit: "× floor",
          target: { atLeast: 0.95 },
        },
        { name: "completed runs", value: medianOf(pairs, (p) => p.system.perSecond), unit: "/s" },
        {
          name: "CPU, beside that without tracing",
          value: medianOf(pairs, (p) => p.system.cpuUs / p.floor.cpuUs),
          unit: "× floor",
          target: { atMost: 1.05 },
        },
      ],
      rounds: pairRows(pairs),
    };
  },
};

async function target(system: System): Promise<Target> {
  const workflowId = await createActiveWorkflow(system, "Tracing");
  return { pid: system.pid, request: runRequest(system, workflowId, "sync") };
}

/** Starts a collector that forgets all it gets; returns its URL. */
async function startCollector(scope: Scope): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  scope.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("There is no port.");
  return `http://127.0.0.1:${address.port}`;
}
