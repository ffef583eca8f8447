import { join } from "node:path";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { ConfigError, fileSettingName, readSettingFiles } from "@workflow/service";
import type { Environment } from "@workflow/service";
import { explainFullDisk, layFoundation, makeFirstCompany } from "../foundation.ts";
import type { Foundation, System, SystemOptions } from "../foundation.ts";
import { ensureSigningKeys, secretsKeksLoader } from "../keys.ts";
import { assertPortFree } from "../ports.ts";
import { SETTINGS } from "../setting-catalogue.ts";
import type { Settings } from "../settings.ts";
import { explain, StartError } from "../start-error.ts";
import { PARTS, partOf } from "../topology.ts";
import type { ServiceName } from "../topology.ts";
import { startBalancer } from "./balancer.ts";
import type { Balancer } from "./balancer.ts";
import { makeCertificates } from "./certificates.ts";
import { startNatsServer } from "./nats-server.ts";
import type { NatsServerOptions } from "./nats-server.ts";
import { startParts } from "./parts.ts";
import type { Parts } from "./parts.ts";
import { planProcesses, readyzUrlOf, REPLICAS } from "./plan.ts";
import type { Facts } from "./plan.ts";

const READY_TIMEOUT_MS = 120_000;
/** Sessions for readiness checks and admin commands, beyond what the parts need. */
const SPARE_SESSIONS = 20;

export interface SeparateSystemOptions extends SystemOptions {
  /** The operator's environment. */
  environment: Environment;
  /** Whether the processes use TLS between each other. */
  tls: boolean;
  /** Worker pools with a process of their own. */
  pools: readonly string[];
}

/** A system whose parts are separate processes. */
export interface SeparateSystem extends System {
  parts: Parts;
}

/** A gateway knows up to ten proxies. The balancer is one of them. */
const PROXIES_MAX = 9;

/** Settings that this command gives to each part. */
const CHOSEN_HERE = [
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "GRPC_TLS_CERT_FILE",
  "GRPC_TLS_KEY_FILE",
  "GRPC_TLS_CA_FILE",
  "WEBHOOKS_HTTP_TLS",
  "RUNS_ROLE",
] as const;

/**
 * Starts every part as a process, with one port in front of the gateways. When a part fails, it rejects and leaves
 * nothing behind.
 * @throws ConfigError that names settings in conflict with the command
 * @throws StartError for other failures
 */
export async function startSeparateSystem(
  settings: Settings,
  options: SeparateSystemOptions,
): Promise<SeparateSystem> {
  assertNothingChosen(options.environment);
  assertRoomForBalancer(settings);
  const scope = createScope();
  return scope.guard(() =>
    startAll(settings, options, scope).catch((error: unknown) => {
      throw explainFullDisk(error, settings);
    }),
  );
}

async function startAll(
  settings: Settings,
  options: SeparateSystemOptions,
  scope: Scope,
): Promise<SeparateSystem> {
  const { signal, showError: tell } = options;
  const foundation = await layFoundation(
    settings,
    {
      ...options,
      command: "npm run start:separate",
      connectionsMax: sessionsMax(settings, options.pools.length),
      check: () => assertPortFree({ setting: "PORT", host: "0.0.0.0", port: settings.PORT }),
    },
    scope,
  );
  const facts = await gatherFacts(settings, foundation, options, scope);
  const plans = await planProcesses(facts, REPLICAS);
  let balancer: Balancer | undefined;
  scope.defer(() => balancer?.close());
  const { log, logFile, lost, databaseUrlOf } = foundation;
  const onLine = (process: string, line: string): void => log.take(process, line);
  const parts = startParts({ plans, onLine, tell, signal }, scope);
  await parts.untilReady(READY_TIMEOUT_MS);
  balancer = await openPort(settings, parts);
  // This runs before the gateways stop.
  scope.defer(() => balancer?.stopAccepting());
  const firstCompany = await makeFirstCompany(databaseUrlOf("gateway"));
  return { parts, logFile, firstCompany, lost, stop: () => scope.close() };
}

/** Gathers the facts for the processes: logins, keys, NATS, certificates. */
async function gatherFacts(
  settings: Settings,
  { dataDir, databaseUrlOf }: Foundation,
  { environment, tls, pools, signal, showError: tell }: SeparateSystemOptions,
  scope: Scope,
): Promise<Facts> {
  // The balancer begins to listen when the parts are ready.
  const keptPorts = [settings.PORT];
  const loadKeks = await secretsKeksLoader(settings.SECRETS_KEK, dataDir);
  const keks = await loadKeks();
  return {
    databaseUrlOf,
    keptPorts,
    pools,
    natsUrlOf: await openNats(
      settings,
      { folder: join(dataDir, "nats"), keptPorts, tell, signal },
      scope,
    ),
    signingKeys: await ensureSigningKeys(undefined, dataDir),
    morePublicKeys: givenPublicKeys(environment),
    secretsKek: keks.map((kek) => kek.toString("base64")).join(","),
    tlsOf: tls ? await makeCertificates(join(dataDir, "tls"), serviceNames()) : null,
    environment: {
      TABLES_SPILL_DIR: join(dataDir, "spill"),
      ...environment,
      PUBLIC_URL: settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`,
      TRUSTED_PROXIES: trustedWithBalancer(settings),
    },
  };
}

/** Further accepted public keys, from the variable or from the file that another variable names. */
function givenPublicKeys(environment: Environment): string | undefined {
  const name = "INTERNAL_TOKEN_PUBLIC_KEYS";
  const given = Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => (entry[1] ?? "").trim() !== "",
    ),
  );
  const { values, problems } = readSettingFiles(given, [name]);
  if (problems.length > 0) throw new ConfigError(problems);
  return given[name] ?? values[name];
}

async function openNats(
  { NATS_URL: given }: Settings,
  options: NatsServerOptions,
  scope: Scope,
): Promise<Facts["natsUrlOf"]> {
  if (given !== undefined) return () => given;
  const server = await startNatsServer(options, scope);
  return server.urlOf;
}

async function openPort(settings: Settings, parts: Parts): Promise<Balancer> {
  const gateways = parts.of("gateway").map(({ plan }) => ({
    host: "127.0.0.1",
    port: plan.ports.get("PORT") ?? 0,
    readyzUrl: readyzUrlOf(plan),
  }));
  const isBehindProxies = settings.TRUSTED_PROXIES !== 0;
  const place = { host: "0.0.0.0", port: settings.PORT };
  try {
    return await startBalancer({ ...place, gateways, isBehindProxies });
  } catch (cause) {
    throw new StartError(`PORT: ${explain(cause)}`, { cause });
  }
}

/** The balancer is one more proxy in front of the gateways. */
function trustedWithBalancer({ TRUSTED_PROXIES: trusted }: Settings): string {
  return typeof trusted === "number" ? String(trusted + 1) : [...trusted, "loopback"].join(",");
}

function serviceNames(): ServiceName[] {
  return [...new Set(PARTS.map((part) => part.service))];
}

function sessionsMax({ DATABASE_POOL_SIZE: pool }: Settings, workersBesides: number): number {
  const sessions = PARTS.map(({ name }) => {
    const { pools, besides } = partOf(name).databaseSessions;
    const count = REPLICAS[name] + (name === "runs-worker" ? workersBesides : 0);
    return count * (pools * pool + besides);
  });
  return sessions.reduce((sum, count) => sum + count, SPARE_SESSIONS);
}

/** One key or certificate for all parts would defeat the purpose of this command. */
function assertNothingChosen(environment: Environment): void {
  const given = CHOSEN_HERE.flatMap((name) => [name, fileSettingName(name)]).filter(
    (name) => (environment[name] ?? "").trim() !== "",
  );
  if (given.length === 0) return;
  throw new ConfigError(
    given.map((setting) => ({
      setting,
      message: setting.includes("_TLS")
        ? "npm run start:separate makes its own certificates; leave it out and give --tls"
        : "npm run start:separate gives each part its own; leave it out",
    })),
  );
}

/** The balancer adds one proxy to those that the operator counts. */
function assertRoomForBalancer({ TRUSTED_PROXIES: trusted }: Settings): void {
  if (typeof trusted !== "number" || trusted <= PROXIES_MAX) return;
  const message = `npm run start:separate puts one more in front; give ${PROXIES_MAX} at most, or networks`;
  throw new ConfigError([{ setting: "TRUSTED_PROXIES", message }]);
}

/** A line for each given setting that the command sets itself. */
export function explainOwnPlaces(environment: Environment): string[] {
  return Object.keys(SETTINGS)
    .filter((name) => /_ADDR$|^METRICS_(HOST|PORT)$/.test(name) && (environment[name] ?? "") !== "")
    .map((name) => `${name} is set, but npm run start:separate chooses the ports of its parts.`);
}
