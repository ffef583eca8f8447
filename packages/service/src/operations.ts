import { setTimeout as delay } from "node:timers/promises";
import type { Scope } from "@workflow/async";
import { examineDatabase, newestMigration } from "@workflow/db";
import type { NeededDatabase } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import {
  createRpcClient,
  createTokenMinter,
  createTokenSigner,
  isTokenAudience,
  isTokenIssuer,
  serviceItself,
} from "@workflow/rpc";
import type { RpcTls, ServerHealth, TokenMinter } from "@workflow/rpc";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { ConfigError } from "./config-error.ts";
import { followCertificates } from "./follow-certificates.ts";
import { startMetricsServer } from "./metrics.ts";
import { createReadiness } from "./readiness.ts";
import type { Readiness, ReadinessCheck, ReadinessDetails } from "./readiness.ts";

/** A service that a process calls. */
export interface Peer {
  name: string;
  /** The name of the setting with the peer's address. */
  setting: string;
  address: string;
  /** Whether the process cannot work without the peer. */
  isNeeded?: boolean;
}

export interface OperationsOptions {
  /** The service, which is also the name of its database schema. */
  name: string;
  config: {
    DATABASE_URL: string;
    METRICS_HOST: string;
    METRICS_PORT: number;
    /** The key of the process's tokens. With it readiness asks each peer whether the tokens are valid. */
    INTERNAL_TOKEN_PRIVATE_KEY?: string;
  };
  /** The folder of the service's migrations. */
  migrations: string;
  /** The reason why events cannot leave at the moment; null when they can. */
  busTrouble: () => string | null;
  peers?: readonly Peer[];
  /** Further facts for /readyz. */
  details?: ReadinessDetails;
  tls: RpcTls | undefined;
  /** The interval at which certificate files are read, in milliseconds (default 10,000). */
  certificatesEveryMs?: number;
  registry: Registry;
  logger: Logger;
  /** Aborted when the process is asked to stop. */
  signal: AbortSignal;
}

/** The endpoints of a process's state, from the process's start on, even before its service runs. */
export interface Operations {
  /**
   * Starts the service as soon as its database is usable: reachable, with the service's role, and with
   * the migrations of this release. Until then /readyz and one log line give the reason.
   *
   * @throws the signal's reason when it is aborted before; any error of `start`, unless the database
   * became unavailable meanwhile
   */
  start<Service>(start: () => Promise<Service>): Promise<Service>;
}

const WAIT_MS = 500;
const PEER_TIMEOUT_MS = 2_000;

/**
 * Serves /metrics, /livez and /readyz of a process on METRICS_PORT until the scope closes.
 *
 * @throws ConfigError when the port cannot be listened on
 */
export async function startOperations(
  options: OperationsOptions,
  scope: Scope,
): Promise<Operations> {
  const { name, config, logger, signal } = options;
  let isStarted = false;
  const database = checkOfDatabase(
    {
      connectionUri: config.DATABASE_URL,
      role: `workflow_${name}`,
      schema: name,
      migration: await newestMigration(options.migrations),
    },
    () => isStarted,
  );
  const checks: ReadinessCheck[] = [
    database,
    checkOfBus(options.busTrouble),
    ...(options.peers ?? []).map((peer) => checkOf(peer, options, scope)),
    ...followCertificates(options.tls, { ...options, everyMs: options.certificatesEveryMs }, scope),
  ];
  const own = (): string | null => {
    if (signal.aborted) return `${name} is stopping`;
    return isStarted ? null : `${name} is starting`;
  };
  const readiness = createReadiness(checks, own, options.details);
  await serve(options, readiness, scope);
  return {
    async start(start) {
      for (;;) {
        await untilUsable(database, logger, signal);
        try {
          const service = await start();
          isStarted = true;
          return service;
        } catch (error) {
          // The database became unavailable between the check and the start, which was undone.
          if (!isAppError(error) || error.reason !== "UNAVAILABLE") throw error;
          logger.warn({ err: error }, "the start was interrupted; waiting");
          await delay(WAIT_MS, undefined, { signal });
        }
      }
    },
  };
}

/** Waits for the database, and logs each new reason for waiting. */
async function untilUsable(
  database: ReadinessCheck,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  let told: string | null = null;
  for (;;) {
    signal.throwIfAborted();
    const text = await database.trouble();
    if (text === null) {
      if (told !== null) logger.info("the database can be used now");
      return;
    }
    if (text !== told) logger.warn({ missing: text }, `waiting: ${text}`);
    told = text;
    await delay(WAIT_MS, undefined, { signal });
  }
}

/** After the start, trouble that affects all replicas alike leaves the process ready. */
function checkOfDatabase(needed: NeededDatabase, isStarted: () => boolean): ReadinessCheck {
  let isNeeded = true;
  return {
    get isNeeded() {
      return isNeeded;
    },
    async trouble() {
      const trouble = await examineDatabase(needed);
      if (trouble === null) return null;
      // Trouble that affects all replicas alike must not remove all of them at once (ADR 71).
      isNeeded = !(isStarted() && trouble.isOnlyForNewcomers);
      return `database: ${trouble.message}`;
    },
  };
}

/** The process works without the bus: its events wait in the outbox. */
function checkOfBus(busTrouble: OperationsOptions["busTrouble"]): ReadinessCheck {
  return {
    isNeeded: false,
    async trouble() {
      const text = busTrouble();
      return text === null ? null : `events: ${text}`;
    },
  };
}

function checkOf(peer: Peer, options: OperationsOptions, scope: Scope): ReadinessCheck {
  const { name, setting, address, isNeeded = false } = peer;
  const minter = minterFor(peer, options);
  const client = createRpcClient({}, { address, tls: options.tls, minter });
  scope.defer(() => client.close());
  const ask = async (): Promise<ServerHealth> => {
    if (minter !== undefined) return client.health(PEER_TIMEOUT_MS, serviceItself(options.name));
    return (await client.isServing(PEER_TIMEOUT_MS)) ? "serving" : "away";
  };
  return {
    isNeeded,
    async trouble() {
      const health = await ask();
      if (health === "serving") return null;
      return health === "away"
        ? `${name}: does not serve at ${setting}`
        : `${name}: refuses the tokens of ${options.name}: its INTERNAL_TOKEN_PUBLIC_KEYS lack the key of INTERNAL_TOKEN_PRIVATE_KEY`;
    },
  };
}

/** The minter of the process's tokens for a peer; undefined without a key, or when the peer takes no tokens. */
function minterFor({ name: audience }: Peer, options: OperationsOptions): TokenMinter | undefined {
  const { name: issuer, config } = options;
  const { INTERNAL_TOKEN_PRIVATE_KEY: privateKeyPem } = config;
  if (privateKeyPem === undefined || !isTokenIssuer(issuer) || !isTokenAudience(audience)) {
    return undefined;
  }
  return createTokenMinter(createTokenSigner({ issuer, privateKeyPem }), { audience });
}

async function serve(
  { config, registry }: OperationsOptions,
  readiness: Readiness,
  scope: Scope,
): Promise<void> {
  const { METRICS_HOST: host, METRICS_PORT: port } = config;
  try {
    const server = await startMetricsServer({ host, port }, registry, readiness);
    scope.defer(() => server?.close());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ setting: "METRICS_PORT", message }]);
  }
}
