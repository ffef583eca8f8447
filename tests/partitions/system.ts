import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scope } from "@workflow/async";
import { openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createCompany } from "@workflow/service-gateway/admin";
import { createTestTokens, findNatsServer, startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { migrateAll } from "../../deploy/dev/src/migrations.ts";
import type { Parts } from "../../deploy/dev/src/separate/parts.ts";
import { startApart } from "../support/apart/start-apart.ts";
import { ADDRESSED, NATS } from "./cuts.ts";
import { layNetwork, OUTSIDE } from "./network.ts";
import type { Network } from "./network.ts";
import { startPostgres } from "./postgres.ts";

const NATS_PORT = 4222;
const LEASE_MS = 3_000;

/** The separate system, each process of it at an address of its own. */
export interface ApartSystem {
  network: Network;
  parts: Parts;
  /** Of a gateway, such as `gateway-1`. */
  originOf(gateway: string): string;
  companyId: string;
  apiKey: string;
  /** As the superuser, over a link that is never cut. */
  database: Database;
  /** A host outside, over links that are never cut. */
  receiver: HttpDouble;
}

/** Starts everything; the scope ends it. */
export async function startApartSystem(
  { receive, onLine }: { receive: DoubleHandler; onLine: (line: string) => void },
  scope: Scope,
): Promise<ApartSystem> {
  const folder = await mkdtemp(join(tmpdir(), "partitions-"));
  scope.defer(() => rm(folder, { recursive: true, force: true }));
  const network = await layNetwork(ADDRESSED);
  const receiver = await startHttpDouble(receive, OUTSIDE);
  scope.defer(() => receiver.close());
  const databaseUrl = await startPostgres(folder, network, scope);
  const natsUrl = await startNats(folder, network, scope);
  await migrateAll(databaseUrl);
  const database = await openDatabase({
    connectionUri: databaseUrl,
    applicationName: "partitions",
    maxConnections: 4,
  });
  scope.defer(() => database.end());
  const company = await createCompany(database, {
    name: "Partitions",
    email: "owner@example.test",
    password: "correct horse battery staple",
  });
  const { parts } = await startApart(
    {
      databaseUrl,
      natsUrl,
      tokens: createTestTokens(),
      placeOf: (name) => ({
        host: network.addressOf(name),
        launcher: network.launcherOf(name),
      }),
      environment: {
        GRPC_ALLOW_PLAINTEXT: "true",
        RATE_LIMIT_INBOUND: "0",
        RUNS_LEASE_MS: String(LEASE_MS),
        TRUSTED_PROXIES: "0",
        DELIVERY_RETRY_DELAYS_MS: "300,600,1000,2000,3000,5000,8000,8000",
      },
      onLine,
    },
    scope,
  );
  return {
    network,
    parts,
    originOf: (name) =>
      `http://${network.addressOf(name)}:${parts.named(name).plan.ports.get("PORT") ?? 0}`,
    companyId: company.companyId,
    apiKey: company.apiKey,
    database,
    receiver,
  };
}

async function startNats(folder: string, network: Network, scope: Scope): Promise<string> {
  const address = network.addressOf(NATS);
  const [program, ...args] = [
    ...network.launcherOf(NATS),
    await findNatsServer(),
    "-js",
    "-sd",
    join(folder, NATS),
    "-a",
    address,
    "-p",
    String(NATS_PORT),
  ];
  const child = spawn(program, args, { stdio: "ignore" });
  scope.defer(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  await waitFor(() => takesConnections(address), { what: "nats-server to listen" });
  return `nats://${address}:${NATS_PORT}`;
}

function takesConnections(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(NATS_PORT, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
