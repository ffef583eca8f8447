import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Scope } from "@workflow/async";
import { findLocalPostgres } from "@workflow/local-postgres";
import { freePort } from "@workflow/testkit";
import { z } from "zod";
import { NODE_FLAGS } from "../deploy/dev/src/node-flags.ts";
import { endWithScope } from "./child-process.ts";
import { garbageCollectorOf } from "./memory.ts";
import type { CollectGarbage } from "./memory.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const START = "deploy/dev/src/start.ts";
const ADMIN = "deploy/dev/src/admin.ts";
const START_TIMEOUT_MS = 120_000;
const OUTPUT_SHOWN = 4_000;
/** Settings that would lead away from the embedded parts. */
const NOT_INHERITED = ["DATABASE_URL", "NATS_URL", "TASK_RUNTIME", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const GRPC_ADDRESSES = ["WORKFLOWS", "RUNS", "TABLES", "INTEGRATIONS", "WEBHOOKS"];

const NEVER_REACHED = "100000000";

/** The system under test, as `npm start` runs it. */
export interface System {
  /** The base URL, which ends in /api/v1. */
  baseUrl: string;
  /** The origin, without a slash at the end. */
  origin: string;
  /** The one process of all services; Postgres is another process. */
  pid: number;
  /** Lets the process collect its garbage, so that its memory tells what it holds. */
  collectGarbage: CollectGarbage;
  companyId: string;
  /** The API key of the company. */
  apiKey: string;
  /** Makes another company; returns its API key. */
  addCompany(name: string): Promise<string>;
  /** A superuser's address of the embedded Postgres. */
  databaseUrl: string;
  /** The address of the workflows service for gRPC. */
  workflowsGrpcAddress: string;
  /** The address of the runs service for gRPC. */
  runsGrpcAddress: string;
  /** Runs an admin command on the system; returns its output with `--json`. */
  admin(...words: readonly string[]): Promise<unknown>;
  /** The tree whose code runs. */
  repository: string;
  /** The folder with the key that signs tokens between the services. */
  dataDir: string;
  /** The port on this machine where the system expects the provider that scenarios play. */
  providerPort: number;
  /** The port on this machine where the system expects the AI provider of agents. */
  modelPort: number;
  /** Time from the start of the process to its readiness, with an empty data folder. */
  startedInMs: number;
}

export interface SystemOptions {
  /** The folder where the system writes a CPU profile at its end; none without it. */
  cpuProfileDir?: string | undefined;
  /** The tree whose code runs; this one by default. */
  repository?: string;
  /** Further settings of the system. */
  settings?: Readonly<Record<string, string>>;
}

/**
 * Starts the whole system as one process on a new data folder with random ports, and makes a company. Both end with
 * the scope.
 * @throws Error with the output of the system, when it does not become ready
 */
export async function startSystem(scope: Scope, options: SystemOptions = {}): Promise<System> {
  const dataDir = await mkdtemp(join(tmpdir(), "workflow-bench-"));
  scope.defer(() => rm(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const providerPort = await freePort();
  const modelPort = await freePort();
  const env = {
    ...(await environment(dataDir, { port, providerPort, modelPort })),
    ...options.settings,
  };
  const { repository = REPOSITORY, cpuProfileDir } = options;
  const startedAt = performance.now();
  const { pid, collectGarbage } = await launch(scope, { repository, env, cpuProfileDir });
  const startedInMs = performance.now() - startedAt;
  const database = await findLocalPostgres(dataDir);
  if (database === null) throw new Error(`No Postgres was found in ${dataDir}.`);
  const admin: System["admin"] = (...words) => runAdmin(scope, { repository, env }, words);
  return {
    pid,
    collectGarbage,
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    origin: `http://127.0.0.1:${port}`,
    ...createdCompany.parse(await admin(...createCompany("bench"))),
    addCompany: async (name) => createdCompany.parse(await admin(...createCompany(name))).apiKey,
    admin,
    repository,
    databaseUrl: database.connectionUri,
    workflowsGrpcAddress: env["WORKFLOWS_GRPC_ADDR"] ?? "",
    runsGrpcAddress: env["RUNS_GRPC_ADDR"] ?? "",
    dataDir,
    providerPort,
    modelPort,
    startedInMs,
  };
}

async function environment(
  dataDir: string,
  { port, providerPort, modelPort }: { port: number; providerPort: number; modelPort: number },
): Promise<NodeJS.ProcessEnv> {
  const inherited = Object.entries(process.env).filter(([name]) => !NOT_INHERITED.includes(name));
  const addresses: [string, string][] = [];
  for (const name of GRPC_ADDRESSES) {
    addresses.push([`${name}_GRPC_ADDR`, `127.0.0.1:${await freePort()}`]);
  }
  addresses.push(["WEBHOOKS_HTTP_ADDR", `127.0.0.1:${await freePort()}`]);
  return {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(addresses),
    DATA_DIR: dataDir,
    PORT: String(port),
    METRICS_PORT: "0",
    // Requests are counted as always, and never reach this limit.
    RATE_LIMIT_READ: NEVER_REACHED,
    RATE_LIMIT_WRITE: NEVER_REACHED,
    RATE_LIMIT_EXECUTE: NEVER_REACHED,
    RATE_LIMIT_INBOUND: "0",
    OUTBOUND_ALLOW_PRIVATE: "true",
    RESEND_BASE_URL: `http://127.0.0.1:${providerPort}`,
    OPENAI_API_KEY: "sk-bench",
    OPENAI_BASE_URL: `http://127.0.0.1:${modelPort}/v1`,
    // Tokens are counted as always, and never used up.
    AGENT_TOKENS_PER_DAY: "100000000000",
    // The default level, with a line for each request.
    LOG_LEVEL: "info",
  };
}

/** A program with its settings. */
interface Program {
  repository: string;
  env: NodeJS.ProcessEnv;
}

async function launch(
  scope: Scope,
  { repository, env, cpuProfileDir }: Program & Pick<SystemOptions, "cpuProfileDir">,
): Promise<Pick<System, "pid" | "collectGarbage">> {
  const profiling =
    cpuProfileDir === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", cpuProfileDir];
  // The flags of `npm start`; the debugger's port counts only when somebody asks for the debugger.
  const flags = ["--max-semi-space-size=64", ...NODE_FLAGS, "--inspect-port=0", ...profiling];
  const child = spawn(process.execPath, [...flags, join(repository, START)], {
    cwd: repository,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  endWithScope(scope, child, "SIGTERM");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let output = "";
  let isReady = false;
  const read = (chunk: string): void => {
    // After the start the output is a log, whose reader should not burden the measurement.
    if (isReady) return;
    output = (output + chunk).slice(-OUTPUT_SHOWN);
    isReady = /^Ready /m.test(output);
    if (isReady) resolve();
  };
  child.stdout.setEncoding("utf8").on("data", read);
  child.stderr.setEncoding("utf8").on("data", read);
  child.once("exit", (code) => reject(new Error(`The system has ended (${code}):\n${output}`)));
  const timer = setTimeout(() => {
    reject(new Error(`The system was not ready in ${START_TIMEOUT_MS} ms:\n${output}`));
  }, START_TIMEOUT_MS);
  await promise.finally(() => clearTimeout(timer));
  const pid = child.pid ?? -1;
  return { pid, collectGarbage: garbageCollectorOf(pid, child.stderr) };
}

const createdCompany = z.object({ companyId: z.string(), apiKey: z.string() });

/** The words of the command that makes a company and its owner. */
function createCompany(name: string): string[] {
  const email = `${name}@example.com`;
  return ["create-company", "--name", name, "--email", email, "--password", "bench-password"];
}

async function runAdmin(
  scope: Scope,
  { repository, env }: Program,
  words: readonly string[],
): Promise<unknown> {
  const args = [join(repository, ADMIN), ...words, "--json"];
  const command = promisify(execFile)(process.execPath, args, { cwd: repository, env });
  // A command that outlives the system would start a Postgres itself.
  endWithScope(scope, command.child, "SIGTERM");
  return JSON.parse((await command).stdout);
}
