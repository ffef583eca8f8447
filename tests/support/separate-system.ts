import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrate, openDatabase } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { TOKEN_ISSUERS } from "@workflow/rpc";
import type { TokenIssuer } from "@workflow/rpc";
import { createCompany } from "@workflow/service-gateway/admin";
import {
  COMPILE_CACHE,
  createTestTokens,
  freePort,
  startLocalNats,
  waitFor,
} from "@workflow/testkit";
import type { TestTokens } from "@workflow/testkit";
import { z } from "zod";
import type { KillableNats } from "./killable-nats.ts";
import { acceptsConnections, startKillableNats } from "./killable-nats.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SCHEMAS = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"];

const MAIN = {
  gateway: "services/gateway/src/main.ts",
  "gateway-2": "services/gateway/src/main.ts",
  workflows: "services/workflows/src/main.ts",
  "workflows-2": "services/workflows/src/main.ts",
  "runs-api": "services/runs/src/main.ts",
  "runs-api-2": "services/runs/src/main.ts",
  "runs-worker": "services/runs/src/main.ts",
  "runs-worker-2": "services/runs/src/main.ts",
  tables: "services/tables/src/main.ts",
  integrations: "services/integrations/src/main.ts",
  webhooks: "services/webhooks/src/main.ts",
  "webhooks-2": "services/webhooks/src/main.ts",
} as const;

const FIRST_PROCESSES = ["gateway", "workflows", "runs-api", "runs-worker"] as const;

/**
 * The services that the system consists of, each in a process of its own. Those with a 2 are second
 * replicas, which a test starts if it needs them; they call each other.
 */
export type ProcessName = keyof typeof MAIN;

/** A process that answers REST calls. */
export type GatewayName = "gateway" | "gateway-2";

/**
 * The system as it is deployed: every service a process of its own, real durable Postgres, real
 * NATS. What is killed here stays killed until it is started again.
 */
export interface SeparateSystem {
  baseUrl: string;
  /** Of `gateway`, without a slash at the end. */
  origin: string;
  companyId: string;
  apiKey: string;
  databaseUri: string;
  /** The keys of all issuers of tokens. */
  tokens: TestTokens;
  /** Where the first replica of each service listens, by its setting. */
  grpcAddresses: Readonly<
    Record<"WORKFLOWS_GRPC_ADDR" | "RUNS_GRPC_ADDR" | "TABLES_GRPC_ADDR", string>
  >;
  natsUrl: string;
  /** Ends Postgres: in an orderly way, or by SIGKILL as a crash of its machine would. */
  stopPostgres(how: "orderly" | "SIGKILL"): Promise<void>;
  /** Starts Postgres again, at the same address. */
  startPostgres(): Promise<void>;
  /** Ends NATS by SIGKILL; only of a system with `killableNats`. */
  killNats(): Promise<void>;
  /** Starts NATS again, at the same address and with what it had stored. */
  startNats(): Promise<void>;
  /** Waits until a request gets all the way to the database and back, by default through `gateway`. */
  waitUntilReady(gateway?: GatewayName): Promise<void>;
  /** Starts a process unless it is there already. */
  start(name: ProcessName): Promise<void>;
  /** Starts a process that others call, and waits until it listens. */
  startAndListen(name: ProcessName): Promise<void>;
  /** Sends a signal and, when it ends the process, waits for that. */
  kill(name: ProcessName, signal: NodeJS.Signals): Promise<void>;
  /** One REST call with the company's key, by default through `gateway`. */
  call(
    method: string,
    path: string,
    body?: unknown,
    gateway?: GatewayName,
  ): Promise<{ status: number; body: Answer }>;
  stop(): Promise<void>;
}

/** The envelope, as far as tests look into it; `data` is empty in an error. */
const answerSchema = z.object({
  data: z.record(z.string(), z.unknown()).default({}),
  error: z
    .object({ code: z.string(), message: z.string(), details: z.unknown().optional() })
    .optional(),
});
type Answer = z.output<typeof answerSchema>;

export interface SeparateSystemOptions {
  /** How long a killed worker's runs wait for another, in milliseconds. Default 1 500. */
  leaseMs?: number;
  /** Whether a second worker is started as well. Default false. */
  secondWorker?: boolean;
  /** Whether the tables service is started as well. Default false. */
  tables?: boolean;
  /** Whether the integrations service is started as well, with these settings of its own. Default no. */
  integrations?: Readonly<Record<string, string>>;
  /** Whether the webhooks service is started as well, with these settings of its own. Default no. */
  webhooks?: Readonly<Record<string, string>>;
  /** The superuser's address of a Postgres that somebody else starts and ends. By default one of its own. */
  databaseUri?: string;
  /** Whether NATS can be killed; it is then a program on this machine, never a shared one. Default false. */
  killableNats?: boolean;
}

/** Starts everything. */
export async function startSeparateSystem(
  options: SeparateSystemOptions = {},
): Promise<SeparateSystem> {
  const { leaseMs = 1_500, secondWorker = false, tables = false, integrations, webhooks } = options;
  const dataDir = await mkdtemp(join(tmpdir(), "separate-system-"));
  let postgres =
    options.databaseUri === undefined
      ? await startLocalPostgres({ dataDir, durable: true })
      : undefined;
  const databaseUri = options.databaseUri ?? postgres?.connectionUri ?? "";
  const ownPostgres = (): LocalPostgres => {
    if (postgres === undefined) throw new Error("Postgres is not this system's own.");
    return postgres;
  };
  const killableNats = options.killableNats === true ? await startKillableNats() : undefined;
  const nats = killableNats ?? (await startLocalNats());
  await migrate({
    connectionUri: databaseUri,
    services: SCHEMAS.map((schema) => ({
      schema,
      role: `workflow_${schema}`,
      directory: join(ROOT, "services", schema, "migrations"),
    })),
  });
  const { companyId, apiKey } = await makeCompany(databaseUri);
  const tokens = createTestTokens();
  const [first, second] = [await freeAddresses(), await freeAddresses()];
  const env = {
    ...COMPILE_CACHE,
    PATH: process.env["PATH"],
    DATABASE_URL: databaseUri,
    NATS_URL: nats.url,
    METRICS_PORT: "0",
    LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "error",
    OUTBOUND_ALLOW_PRIVATE: "true",
    RUNS_LEASE_MS: String(leaseMs),
    WORKER_CONCURRENCY: "100",
    // What is measured is what comes of requests, not how many there may be.
    RATE_LIMIT_READ: "0",
    RATE_LIMIT_WRITE: "0",
    RATE_LIMIT_EXECUTE: "0",
    RATE_LIMIT_INBOUND: "0",
    SECRETS_KEK: randomBytes(32).toString("base64"),
  };
  const processes = new Map<ProcessName, ChildProcess>();
  const addressesOf = (name: ProcessName) => (name.endsWith("-2") ? second : first);
  const origin = (gateway: GatewayName) => `http://127.0.0.1:${addressesOf(gateway).PORT}`;
  const baseUrl = `${origin("gateway")}/api/v1`;

  const system: SeparateSystem = {
    baseUrl,
    origin: origin("gateway"),
    companyId,
    apiKey,
    databaseUri,
    tokens,
    grpcAddresses: first,
    natsUrl: nats.url,
    async stopPostgres(how) {
      if (how === "orderly") return ownPostgres().stop();
      process.kill(ownPostgres().pid, "SIGKILL");
      await ownPostgres().exited;
    },
    async startPostgres() {
      const { connectionUri } = ownPostgres();
      postgres = await startLocalPostgres({ dataDir, durable: true });
      if (postgres.connectionUri !== connectionUri) throw new Error("Postgres has moved.");
    },
    killNats: () => mortal(killableNats).kill(),
    startNats: () => mortal(killableNats).start(),
    async waitUntilReady(gateway = "gateway") {
      const isReady = async () => (await fetch(`${origin(gateway)}/readyz`)).status === 200;
      await waitFor(isReady, { timeoutMs: 150_000, what: "the system to be ready" });
    },
    async start(name) {
      if (isAlive(processes.get(name))) return;
      const role = name.startsWith("runs-api") ? "api" : "worker";
      const child = spawn(process.execPath, [join(ROOT, MAIN[name])], {
        env: {
          ...env,
          ...tokens.environment(issuerOf(name)),
          ...addressesOf(name),
          ...(name.startsWith("runs-") ? { RUNS_ROLE: role } : {}),
          ...(name === "integrations" ? integrations : {}),
          ...(name.startsWith("webhooks") ? webhooks : {}),
        },
        stdio: ["ignore", "pipe", "inherit"],
      });
      child.stdout.on("data", (chunk: Buffer) => {
        if (process.env["TEST_LOG_LEVEL"] !== undefined) process.stderr.write(chunk);
      });
      const end = (): void => void child.kill("SIGKILL");
      process.once("exit", end);
      child.once("exit", () => process.off("exit", end));
      processes.set(name, child);
      await once(child, "spawn");
    },
    async startAndListen(name) {
      await system.start(name);
      const [service = ""] = name.split("-");
      const setting = `${service.toUpperCase()}_GRPC_ADDR`;
      const address = new Map(Object.entries(addressesOf(name))).get(setting);
      const port = Number(address?.split(":")[1]);
      await waitFor(() => acceptsConnections(port), { timeoutMs: 150_000, what: name });
    },
    async kill(name, signal) {
      const child = processes.get(name);
      if (!isAlive(child)) return;
      const exited = once(child, "exit");
      child.kill(signal);
      if (signal !== "SIGSTOP" && signal !== "SIGCONT") await exited;
    },
    async call(method, path, body, gateway = "gateway") {
      const response = await fetch(`${origin(gateway)}/api/v1${path}`, {
        method,
        headers: { "x-api-key": apiKey, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: answerSchema.parse(await response.json()) };
    },
    async stop() {
      await Promise.all([...processes.keys()].map((name) => system.kill(name, "SIGKILL")));
      await nats.stop();
      await postgres?.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  try {
    for (const name of FIRST_PROCESSES) await system.start(name);
    if (secondWorker) await system.start("runs-worker-2");
    if (tables) await system.start("tables");
    if (integrations !== undefined) await system.start("integrations");
    if (webhooks !== undefined) await system.start("webhooks");
    await system.waitUntilReady();
    // The gateway is ready without this one, and its first attempt to reach it may have failed.
    if (integrations !== undefined) {
      const answersAgents = async () =>
        (await system.call("GET", "/agents/agent_content")).status === 200;
      await waitFor(answersAgents, { timeoutMs: 150_000, what: "the integrations service" });
    }
    return system;
  } catch (error) {
    await system.stop();
    throw error;
  }
}

function mortal(nats: KillableNats | undefined): KillableNats {
  if (nats === undefined) throw new Error("The system was started without killableNats.");
  return nats;
}

/** Where the processes of one set of replicas listen. */
async function freeAddresses() {
  return {
    PORT: String(await freePort()),
    WORKFLOWS_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    RUNS_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    TABLES_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    INTEGRATIONS_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    WEBHOOKS_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    WEBHOOKS_HTTP_ADDR: `127.0.0.1:${await freePort()}`,
  };
}

/** The process's own key is that of its service; `tables` calls nobody and needs none. */
function issuerOf(name: ProcessName): TokenIssuer | undefined {
  return TOKEN_ISSUERS.find((issuer) => name.startsWith(issuer));
}

function isAlive(child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

async function makeCompany(connectionUri: string) {
  const database = await openDatabase({ connectionUri, applicationName: "test" });
  try {
    return await createCompany(database, {
      name: "Faults",
      email: "owner@example.test",
      password: "correct horse battery staple",
    });
  } finally {
    await database.end();
  }
}
