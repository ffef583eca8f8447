import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { findNatsServer } from "./local-nats.ts";

/** One server of a cluster, which keeps its address and its data. */
export interface NatsNode {
  name: string;
  /** kill -9. */
  kill(): Promise<void>;
  start(): void;
}

/** NATS servers on this machine that know each other. */
export interface LocalNatsCluster {
  /** The addresses of all, separated by commas. */
  url: string;
  nodes: readonly NatsNode[];
  /** Kills all and deletes their data. */
  stop(): Promise<void>;
}

interface NodeAddress {
  name: string;
  clientPort: number;
  clusterPort: number;
}

/**
 * Starts a cluster of three servers with JetStream on loopback addresses. It returns before they have found
 * each other: until then they refuse streams.
 *
 * @throws Error when there is no nats-server, see `findNatsServer`
 */
export async function startLocalNatsCluster(): Promise<LocalNatsCluster> {
  const program = await findNatsServer();
  const folder = await mkdtemp(join(tmpdir(), "workflow-test-nats-cluster-"));
  const addresses = await Promise.all(
    ["one", "two", "three"].map(async (name) => {
      return { name, clientPort: await freePort(), clusterPort: await freePort() };
    }),
  );
  const nodes = await Promise.all(
    addresses.map(async (address) => {
      const config = join(folder, `${address.name}.conf`);
      await writeFile(config, configOf(address, addresses, folder));
      return createNode(program, config, address.name);
    }),
  );
  for (const node of nodes) node.start();
  return {
    url: addresses.map(({ clientPort }) => `nats://127.0.0.1:${clientPort}`).join(","),
    nodes,
    async stop() {
      await Promise.all(nodes.map((node) => node.kill()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function createNode(program: string, config: string, name: string): NatsNode {
  let child: ChildProcess | null = null;
  const killAtExit = (): void => void child?.kill("SIGKILL");
  return {
    name,
    start() {
      process.once("exit", killAtExit);
      child = spawn(program, ["-c", config], { stdio: "ignore" });
    },
    async kill() {
      process.removeListener("exit", killAtExit);
      if (child === null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
      child = null;
    },
  };
}

function configOf(own: NodeAddress, all: readonly NodeAddress[], folder: string): string {
  const routes = all.map(({ clusterPort }) => `"nats://127.0.0.1:${clusterPort}"`);
  return `
server_name: ${own.name}
listen: "127.0.0.1:${own.clientPort}"
jetstream { store_dir: ${JSON.stringify(join(folder, own.name))} }
cluster {
  name: test
  listen: "127.0.0.1:${own.clusterPort}"
  routes: [${routes.join(", ")}]
}
`;
}
