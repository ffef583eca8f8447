import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createTestTokens, waitFor } from "@workflow/testkit";
import { freePorts } from "../../../deploy/dev/src/separate/free-ports.ts";
import { startPartProcess } from "../../../deploy/dev/src/separate/part-process.ts";
import type { Parts } from "../../../deploy/dev/src/separate/parts.ts";
import { ON_LOOPBACK, OWN_ROOT } from "../../../deploy/dev/src/separate/plan.ts";
import { partOf } from "../../../deploy/dev/src/topology.ts";
import type { PartName } from "../../../deploy/dev/src/topology.ts";
import type { Gateway, GatewayOptions, Services, SystemOptions } from "../system-types.ts";
import { environmentOf, gatewayEnvironmentOf } from "./options-apart.ts";
import { findSharedSystem } from "./shared-system.ts";
import type { SharedSystem } from "./shared-system.ts";
import { startApart } from "./start-apart.ts";
import type { Apart, ApartOptions } from "./start-apart.ts";

const READY_TIMEOUT_MS = 120_000;

/**
 * The database of the system that files without options share; undefined when a file has its own.
 */
export function sharedDatabaseUrl(options: SystemOptions): string | undefined {
  return Object.keys(options).length === 0 ? findSharedSystem()?.databaseUrl : undefined;
}

/** The services as separate processes: the shared ones, or new ones with these options. */
export async function startServicesApart(
  databaseUrl: string,
  options: SystemOptions,
): Promise<Services> {
  const shared = findSharedSystem();
  if (shared === null || databaseUrl !== shared.databaseUrl) {
    return startOwnServices(databaseUrl, options);
  }
  return servicesOf(shared, createScope(), () => {});
}

/** Options that systems in one process do not have. */
export type MoreApart = Pick<ApartOptions, "replicas" | "onLine" | "environment" | "rootOf">;

/** The services as separate processes of one file. */
export async function startOwnServices(
  databaseUrl: string,
  options: SystemOptions,
  more: MoreApart = {},
): Promise<Services & { apart: Apart }> {
  const scope = createScope();
  return scope.guard(async () => {
    const tokens = createTestTokens();
    const { log } = options;
    const onLine = (line: string): void => {
      log?.write(`${line}\n`);
      more.onLine?.(line);
    };
    const apart = await startApart(
      {
        ...more,
        databaseUrl,
        tokens,
        environment: {
          ...environmentOf(options),
          ...more.environment,
          ...(log === undefined ? {} : { LOG_LEVEL: "debug" }),
        },
        onLine,
      },
      scope,
    );
    const { origin, parts } = apart;
    const system = { databaseUrl, keys: tokens.keys, origin, ...describeParts(parts) };
    return { ...servicesOf(system, scope, onLine), apart };
  });
}

function servicesOf(system: SharedSystem, scope: Scope, onLine: (line: string) => void): Services {
  const { origin, grpcAddresses, keys, gatewayEnvironment } = system;
  return {
    origin,
    natsUrl: gatewayEnvironment["NATS_URL"],
    grpcAddresses,
    tokens: createTestTokens(keys),
    startGateway: (options = {}) =>
      startAnother(environmentOfAnother(system, options), onLine, scope),
    stop: () => scope.close(),
  };
}

/** The addresses of the parts, and the settings for one more gateway. */
export function describeParts(
  parts: Parts,
): Pick<SharedSystem, "grpcAddresses" | "gatewayEnvironment"> {
  const addressOf = (name: PartName): string => {
    const [first] = parts.of(name);
    const [listener] = partOf(name).listens;
    const port = listener === undefined ? undefined : first?.plan.ports.get(listener.setting);
    return `127.0.0.1:${port ?? 0}`;
  };
  return {
    grpcAddresses: {
      workflows: addressOf("workflows"),
      runs: addressOf("runs-api"),
      tables: addressOf("tables"),
      integrations: addressOf("integrations"),
      webhooks: addressOf("webhooks"),
    },
    gatewayEnvironment: { ...parts.of("gateway")[0]?.plan.environment },
  };
}

function environmentOfAnother(
  { gatewayEnvironment }: SharedSystem,
  options: GatewayOptions,
): Record<string, string> {
  // No balancer stands in front of this gateway.
  const alone = { ...gatewayEnvironment, TRUSTED_PROXIES: "0" };
  return { ...alone, ...gatewayEnvironmentOf(options) };
}

/** Starts one more gateway of a system, which ends with the scope unless a test stops it before. */
async function startAnother(
  environment: Readonly<Record<string, string>>,
  onLine: (line: string) => void,
  scope: Scope,
): Promise<Gateway> {
  const [port = 0, metricsPort = 0] = await freePorts(2);
  const given = {
    ...environment,
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
  };
  const gateway = startPartProcess({
    plan: {
      name: "another gateway",
      part: partOf("gateway"),
      environment: given,
      root: OWN_ROOT,
      place: ON_LOOPBACK,
      ports: new Map([
        ["PORT", port],
        ["METRICS_PORT", metricsPort],
      ]),
    },
    onLine,
    onEnd: onLine,
  });
  scope.defer(() => gateway.stop());
  const isReady = async () => (await gateway.state()).missing.length === 0;
  const ready = waitFor(isReady, { timeoutMs: READY_TIMEOUT_MS, what: "another gateway" });
  await Promise.race([ready, gateway.refused]);
  return { origin: `http://127.0.0.1:${port}`, stop: () => gateway.stop() };
}
