import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { migrate, openDatabase } from "@workflow/db";
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
import { NamedProcesses, ROOT, startOwnPostgres } from "./separate-processes.ts";
import type { ProcessName } from "./separate-processes.ts";
import type { KillableNats } from "./killable-nats.ts";
import { acceptsConnections, startKillableNats } from "./killable-nats.ts";

const SCHEMAS = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"];

/** A busy machine starts a process within this time. */
const START_MS = 150_000;
const FIRST_PROCESSES = ["gateway", "workflows", "runs-api", "runs-worker"] as const;

export type { ProcessName } from "./separate-processes.ts";

/** A process that answers REST calls. */
export type GatewayName = "gateway" | "gateway-2";

/**
 * The system as it is deployed: every service is a process of its own, with durable Postgres and with NATS. A killed
 * process stays killed until a test starts it again.
 */
export interface SeparateSystem {
  baseUrl: string;
  /** The origin of `gateway`, without a slash at the end. */
  origin: string;
  companyId: string;
  apiKey: string;
  databaseUri: string;
  /** The keys of all issuers of tokens. */
  tokens: TestTokens;
  /** The addresses of the first replicas, by their settings. */
  grpcAddresses: Readonly<
    Record<"WORKFLOWS_GRPC_ADDR" | "RUNS_GRPC_ADDR" | "TABLES_GRPC_ADDR", string>
  >;
  natsUrl: string;
  /** Ends Postgres in an orderly way, or by SIGKILL as a crash of its machine does. */
  stopPostgres(how: "orderly" | "SIGKILL"): Promise<void>;
  /** Starts Postgres again, at the same address. */
  startPostgres(): Promise<void>;
  /** Ends NATS by SIGKILL; only of a system with `killableNats`. */
  killNats(): Promise<void>;
  /** Starts NATS again, at the same address and with its store. */
  startNats(): Promise<void>;
  /** Waits until a request gets all the way to the database and back, by default through `gateway`. */
  waitUntilReady(gateway?: GatewayName): Promise<void>;
  /** Starts a process unless it runs. */
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

/** The members of the envelope that tests read; `data` is empty in an error. */
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
  /** The superuser's address of a Postgres that the test starts and ends. By default the system has its own. */
  databaseUri?: string;
  /** Whether NATS can be killed; it is then a program on this machine, never a shared one. Default false. */
  killableNats?: boolean;
}

/** Starts everything. */
export async function startSeparateSystem(
  options: SeparateSystemOptions = {},
): Promise<SeparateSystem> {
  const postgres = await startOwnPostgres(options.databaseUri);
  const killableNats = options.killableNats === true ? await startKillableNats() : undefined;
  const nats = killableNats ?? (await startLocalNats());
  const { databaseUri } = postgres;
  await migrate({ connectionUri: databaseUri, services: SCHEMAS.map(migrationsOf) });
  const { companyId, apiKey } = await makeCompany(databaseUri);
  const tokens = createTestTokens();
  const [first, second] = [await freeAddresses(), await freeAddresses()];
  const addressesOf = (name: ProcessName) => (name.endsWith("-2") ? second : first);
  const shared = environmentOf(options, { databaseUri, natsUrl: nats.url });
  const processes = new NamedProcesses((name) => ({
    ...shared,
    ...tokens.environment(issuerOf(name)),
    ...addressesOf(name),
    ...ownSettings(name, options),
  }));
  const originOf = (gateway: GatewayName) => `http://127.0.0.1:${addressesOf(gateway).PORT}`;
  const origin = originOf("gateway");

  const system: SeparateSystem = {
    baseUrl: `${origin}/api/v1`,
    origin,
    companyId,
    apiKey,
    databaseUri,
    tokens,
    grpcAddresses: first,
    natsUrl: nats.url,
    stopPostgres: (how) => postgres.stop(how),
    startPostgres: () => postgres.startAgain(),
    killNats: () => mortal(killableNats).kill(),
    startNats: () => mortal(killableNats).start(),
    waitUntilReady: (gateway = "gateway") => untilReady(originOf(gateway)),
    start: (name) => processes.start(name),
    async startAndListen(name) {
      await processes.start(name);
      const port = grpcPortOf(name, addressesOf(name));
      await waitFor(() => acceptsConnections(port), { timeoutMs: START_MS, what: name });
    },
    kill: (name, signal) => processes.kill(name, signal),
    call: (method, path, body, gateway = "gateway") =>
      call(`${originOf(gateway)}/api/v1${path}`, apiKey, method, body),
    async stop() {
      await processes.killAll();
      await nats.stop();
      await postgres.close();
    },
  };
  try {
    await startAll(system, options);
    return system;
  } catch (error) {
    await system.stop();
    throw error;
  }
}

async function untilReady(origin: string): Promise<void> {
  const isReady = async () => (await fetch(`${origin}/readyz`)).status === 200;
  await waitFor(isReady, { timeoutMs: START_MS, what: "the system to be ready" });
}

async function startAll(
  system: SeparateSystem,
  { secondWorker = false, tables = false, integrations, webhooks }: SeparateSystemOptions,
): Promise<void> {
  for (const name of FIRST_PROCESSES) await system.start(name);
  if (secondWorker) await system.start("runs-worker-2");
  if (tables) await system.start("tables");
  if (integrations !== undefined) await system.start("integrations");
  if (webhooks !== undefined) await system.start("webhooks");
  await system.waitUntilReady();
  if (integrations === undefined) return;
  // The gateway is ready without this service, and its first attempt to reach it may have failed.
  const answersAgents = async () =>
    (await system.call("GET", "/agents/agent_content")).status === 200;
  await waitFor(answersAgents, { timeoutMs: START_MS, what: "the integrations service" });
}

function migrationsOf(schema: string) {
  const directory = join(ROOT, "services", schema, "migrations");
  return { schema, role: `workflow_${schema}`, directory };
}

/** The environment that all processes share. */
function environmentOf(
  { leaseMs = 1_500 }: SeparateSystemOptions,
  { databaseUri, natsUrl }: { databaseUri: string; natsUrl: string },
) {
  return {
    ...COMPILE_CACHE,
    PATH: process.env["PATH"],
    DATABASE_URL: databaseUri,
    NATS_URL: natsUrl,
    METRICS_PORT: "0",
    LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "error",
    OUTBOUND_ALLOW_PRIVATE: "true",
    RUNS_LEASE_MS: String(leaseMs),
    WORKER_CONCURRENCY: "100",
    // The tests are about what becomes of requests, not about how many there may be.
    RATE_LIMIT_READ: "0",
    RATE_LIMIT_WRITE: "0",
    RATE_LIMIT_EXECUTE: "0",
    RATE_LIMIT_INBOUND: "0",
    SECRETS_KEK: randomBytes(32).toString("base64"),
  };
}

function ownSettings(
  name: ProcessName,
  { integrations, webhooks }: SeparateSystemOptions,
): Readonly<Record<string, string>> {
  if (name === "integrations") return integrations ?? {};
  if (name.startsWith("webhooks")) return webhooks ?? {};
  if (!name.startsWith("runs-")) return {};
  return { RUNS_ROLE: name.startsWith("runs-api") ? "api" : "worker" };
}

function grpcPortOf(name: ProcessName, addresses: Readonly<Record<string, string>>): number {
  const [service = ""] = name.split("-");
  return Number(addresses[`${service.toUpperCase()}_GRPC_ADDR`]?.split(":")[1]);
}

async function call(url: string, apiKey: string, method: string, body: unknown) {
  const response = await fetch(url, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: answerSchema.parse(await response.json()) };
}

function mortal(nats: KillableNats | undefined): KillableNats {
  if (nats === undefined) throw new Error("The system was started without killableNats.");
  return nats;
}

/** Addresses for one set of replicas. */
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

/** The issuer whose key a process has; none for `tables`, which calls no service. */
function issuerOf(name: ProcessName): TokenIssuer | undefined {
  return TOKEN_ISSUERS.find((issuer) => name.startsWith(issuer));
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
