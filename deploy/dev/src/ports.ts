import { createServer } from "node:net";
import type { Server } from "node:net";
import type { Settings } from "./settings.ts";
import { codeOf, StartError } from "./start-error.ts";

interface Endpoint {
  setting: string;
  /** The setting of the address, when it is a separate one. */
  hostSetting?: string;
  host: string;
  port: number;
}

/**
 * Checks that the ports of the system are free, before anything is started.
 * @throws StartError that names the settings
 */
export async function assertPortsFree(settings: Settings): Promise<void> {
  const problems: string[] = [];
  let isInUse = false;
  const probes: Server[] = [];
  const probed: Endpoint[] = [];
  for (const endpoint of endpointsOf(settings)) {
    const twin = probed.find((other) => overlaps(other, endpoint));
    if (twin !== undefined) {
      isInUse = true;
      problems.push(`${endpoint.setting}: port ${endpoint.port} is also that of ${twin.setting}.`);
      continue;
    }
    probed.push(endpoint);
    const result = await probe(endpoint);
    if ("problem" in result) {
      isInUse ||= result.isInUse;
      problems.push(result.problem);
    } else {
      probes.push(result.server);
    }
  }
  await Promise.all(probes.map((server) => new Promise((resolve) => server.close(resolve))));
  if (problems.length === 0) return;
  const hint = "Stop the other program, or choose another port with the setting.";
  throw new StartError([...problems, ...(isInUse ? [hint] : [])].join("\n"));
}

function endpointsOf(settings: Settings): Endpoint[] {
  const endpoints = [
    { setting: "PORT", host: "0.0.0.0", port: settings.PORT },
    {
      setting: "METRICS_PORT",
      hostSetting: "METRICS_HOST",
      host: settings.METRICS_HOST,
      port: settings.METRICS_PORT,
    },
  ];
  const addresses = {
    WORKFLOWS_GRPC_ADDR: settings.WORKFLOWS_GRPC_ADDR,
    RUNS_GRPC_ADDR: settings.RUNS_GRPC_ADDR,
    TABLES_GRPC_ADDR: settings.TABLES_GRPC_ADDR,
    INTEGRATIONS_GRPC_ADDR: settings.INTEGRATIONS_GRPC_ADDR,
    WEBHOOKS_GRPC_ADDR: settings.WEBHOOKS_GRPC_ADDR,
  };
  for (const [setting, address] of Object.entries(addresses)) {
    // The Postgres server itself checks a unix socket.
    const [, host, port] = /^\[?(.+?)\]?:(\d+)$/.exec(address) ?? [];
    if (host !== undefined) endpoints.push({ setting, host, port: Number(port) });
  }
  return endpoints.filter(({ port }) => port !== 0);
}

function overlaps(a: Endpoint, b: Endpoint): boolean {
  const isShared = a.host === b.host || [a.host, b.host].includes("0.0.0.0");
  return a.port === b.port && isShared;
}

/**
 * Checks that one port is free.
 * @throws StartError that names its setting
 */
export async function assertPortFree(endpoint: Endpoint): Promise<void> {
  const result = await probe(endpoint);
  if ("problem" in result) throw new StartError(result.problem);
  await new Promise((resolve) => result.server.close(resolve));
}

type Probe = { server: Server } | { problem: string; isInUse: boolean };

/** Listens for a moment. Resolves with the reason when that fails. */
function probe(endpoint: Endpoint): Promise<Probe> {
  const { host, port } = endpoint;
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => {
      const isInUse = codeOf(error) === "EADDRINUSE";
      resolve({ problem: explainRefusal(endpoint, error), isInUse });
    });
    server.listen({ host, port, exclusive: true }, () => resolve({ server }));
  });
}

function explainRefusal({ setting, hostSetting, host, port }: Endpoint, error: Error): string {
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return `${setting}: port ${port} is in use by another program.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${hostSetting ?? setting}: ${host} is no address of this machine.`;
    case "EACCES":
      return `${setting}: this user may not listen on port ${port}. Choose one above 1023.`;
    default:
      return `${setting}: ${error.message}.`;
  }
}
