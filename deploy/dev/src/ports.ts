import { createServer } from "node:net";
import type { Server } from "node:net";
import type { Settings } from "./settings.ts";
import { codeOf, StartError } from "./start-error.ts";

interface Endpoint {
  setting: string;
  host: string;
  port: number;
}

/**
 * Tells which of the ports that the system needs are taken, before anything is started.
 *
 * @throws StartError naming the settings
 */
export async function assertPortsFree(settings: Settings): Promise<void> {
  const problems: string[] = [];
  const probes: Server[] = [];
  const probed: Endpoint[] = [];
  for (const endpoint of endpointsOf(settings)) {
    const twin = probed.find((other) => overlaps(other, endpoint));
    if (twin !== undefined) {
      problems.push(`${endpoint.setting}: port ${endpoint.port} is also that of ${twin.setting}.`);
      continue;
    }
    probed.push(endpoint);
    const result = await probe(endpoint);
    if (typeof result === "string") problems.push(`${endpoint.setting}: ${result}.`);
    else probes.push(result);
  }
  await Promise.all(probes.map((server) => new Promise((resolve) => server.close(resolve))));
  if (problems.length === 0) return;
  const hint = "Stop the other program, or choose another port with the setting.";
  throw new StartError([...problems, hint].join("\n"));
}

function endpointsOf(settings: Settings): Endpoint[] {
  const endpoints = [
    { setting: "PORT", host: "0.0.0.0", port: settings.PORT },
    { setting: "METRICS_PORT", host: "0.0.0.0", port: settings.METRICS_PORT },
  ];
  const addresses = {
    WORKFLOWS_GRPC_ADDR: settings.WORKFLOWS_GRPC_ADDR,
    RUNS_GRPC_ADDR: settings.RUNS_GRPC_ADDR,
    TABLES_GRPC_ADDR: settings.TABLES_GRPC_ADDR,
    INTEGRATIONS_GRPC_ADDR: settings.INTEGRATIONS_GRPC_ADDR,
    WEBHOOKS_GRPC_ADDR: settings.WEBHOOKS_GRPC_ADDR,
  };
  for (const [setting, address] of Object.entries(addresses)) {
    // A unix socket is looked at by the server itself.
    const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(address) ?? [];
    if (host !== undefined) endpoints.push({ setting, host, port: Number(port) });
  }
  return endpoints.filter(({ port }) => port !== 0);
}

function overlaps(a: Endpoint, b: Endpoint): boolean {
  const isShared = a.host === b.host || [a.host, b.host].includes("0.0.0.0");
  return a.port === b.port && isShared;
}

/** Listens for a moment; resolves with the reason when that is not possible. */
function probe({ host, port }: Endpoint): Promise<Server | string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => {
      const inUse = codeOf(error) === "EADDRINUSE";
      resolve(inUse ? `port ${port} is in use by another program` : error.message);
    });
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}
