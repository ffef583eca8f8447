import { callersOf } from "@workflow/rpc";
import type { TokenAudience, TokenIssuer } from "@workflow/rpc";
import type { SettingName } from "@workflow/service";
import { settings as gateway } from "@workflow/service-gateway/config";
import { settings as integrations } from "@workflow/service-integrations/config";
import { settings as runs } from "@workflow/service-runs/config";
import { settings as tables } from "@workflow/service-tables/config";
import { settings as webhooks } from "@workflow/service-webhooks/config";
import { settings as workflows } from "@workflow/service-workflows/config";
import type { ZodType } from "zod";

/*
 * Which processes the system has when its services run apart, what each is told, and who calls whom: the
 * one source for `npm run start:separate`, for manifests, and for docs/ops/separate.md.
 */

/** A folder of services/; its database schema, its user on NATS and its Postgres role are named after it. */
export type ServiceName = "gateway" | "workflows" | "runs" | "tables" | "integrations" | "webhooks";

/** A kind of process. The runs service is two of them. */
export type PartName =
  "gateway" | "workflows" | "runs-api" | "runs-worker" | "tables" | "integrations" | "webhooks";

/** A port on which a part takes connections. */
export interface Listener {
  /** Holds the port, or host and port. */
  setting: SettingName;
  /** What is spoken; gRPC is over TLS when GRPC_TLS_CERT_FILE is set. */
  protocol: "http" | "grpc";
  /** The port that the setting has by default. */
  port: number;
  /** What is served there, in words. */
  serves: string;
}

/** A connection that a part opens to another one. */
export interface Edge {
  to: PartName;
  /** Names the callee's address, in the caller's environment and in the callee's own. */
  setting: SettingName;
  protocol: "http" | "grpc";
}

/** One kind of process: what it runs, is told, takes and calls. */
export interface Part {
  name: PartName;
  service: ServiceName;
  /** What Node runs, from the root of the repository. */
  main: string;
  /** The role that its database connections act as; owns nothing (deploy/postgres). */
  databaseRole: string;
  /** Its user on a NATS server with deploy/nats/accounts.conf. */
  natsUser: ServiceName;
  /** Whose key INTERNAL_TOKEN_PRIVATE_KEY is; null for a part that calls nobody. */
  signsAs: TokenIssuer | null;
  /** Whose keys INTERNAL_TOKEN_PUBLIC_KEYS has to hold, besides admin's where people mint tokens. */
  accepts: readonly TokenIssuer[];
  /** Settings that make this part of its service. */
  fixed: Readonly<Partial<Record<SettingName, string>>>;
  /** Every setting that it reads; providers' own (`<PROVIDER>_…`) besides where `readsProviders`. */
  settings: readonly SettingName[];
  /** Those without which it does not start. */
  required: readonly SettingName[];
  /** Whether it reads the settings of providers, `<PROVIDER>_CLIENT_ID` and so on. */
  readsProviders: boolean;
  listens: readonly Listener[];
  calls: readonly Edge[];
  /** Whether it opens connections to hosts outside, which tenants or operators name. */
  callsOutside: boolean;
  /** Sessions of Postgres at most, as a multiple of DATABASE_POOL_SIZE and a number besides. */
  databaseSessions: { pools: number; besides: number };
  /** How long a stop may take until the process ends itself, in seconds; give an orchestrator more. */
  stopSecondsMax: number;
}

const GRPC_SERVICES = "gRPC services, grpc.health.v1";
const OPERATION: Listener = {
  setting: "METRICS_PORT",
  protocol: "http",
  port: 9464,
  serves: "/metrics, /livez, /readyz; on METRICS_HOST",
};

/** The parts, in the order in which one would start them; any order works. */
export const PARTS: readonly Part[] = [
  {
    ...service("tables", tables),
    signsAs: null,
    listens: [grpc("TABLES_GRPC_ADDR", 50053), OPERATION],
    calls: [],
    callsOutside: false,
    databaseSessions: { pools: 1, besides: 0 },
    stopSecondsMax: 15,
  },
  {
    ...service("integrations", integrations),
    signsAs: null,
    readsProviders: true,
    listens: [grpc("INTEGRATIONS_GRPC_ADDR", 50054), OPERATION],
    calls: [],
    callsOutside: true,
    databaseSessions: { pools: 1, besides: 1 },
    stopSecondsMax: 15,
  },
  {
    ...service("runs", runs),
    name: "runs-api",
    fixed: { RUNS_ROLE: "api" },
    signsAs: "runs",
    listens: [grpc("RUNS_GRPC_ADDR", 50052), OPERATION],
    calls: [],
    callsOutside: false,
    databaseSessions: { pools: 1, besides: 2 },
    stopSecondsMax: 20,
  },
  {
    ...service("runs", runs),
    name: "runs-worker",
    fixed: { RUNS_ROLE: "worker" },
    signsAs: "runs",
    accepts: [],
    listens: [OPERATION],
    calls: [
      { to: "integrations", setting: "INTEGRATIONS_GRPC_ADDR", protocol: "grpc" },
      { to: "tables", setting: "TABLES_GRPC_ADDR", protocol: "grpc" },
    ],
    callsOutside: true,
    databaseSessions: { pools: 1, besides: 6 },
    stopSecondsMax: 20,
  },
  {
    ...service("workflows", workflows),
    signsAs: "workflows",
    listens: [grpc("WORKFLOWS_GRPC_ADDR", 50051), OPERATION],
    calls: [{ to: "runs-api", setting: "RUNS_GRPC_ADDR", protocol: "grpc" }],
    callsOutside: false,
    databaseSessions: { pools: 1, besides: 0 },
    stopSecondsMax: 15,
  },
  {
    ...service("webhooks", webhooks),
    signsAs: "webhooks",
    listens: [
      grpc("WEBHOOKS_GRPC_ADDR", 50055),
      {
        setting: "WEBHOOKS_HTTP_ADDR",
        protocol: "http",
        port: 8081,
        serves: "inbound webhooks that the gateway passes on",
      },
      OPERATION,
    ],
    calls: [
      { to: "runs-api", setting: "RUNS_GRPC_ADDR", protocol: "grpc" },
      { to: "integrations", setting: "INTEGRATIONS_GRPC_ADDR", protocol: "grpc" },
    ],
    callsOutside: true,
    databaseSessions: { pools: 1, besides: 1 },
    stopSecondsMax: 15,
  },
  {
    ...service("gateway", gateway),
    signsAs: "gateway",
    listens: [
      {
        setting: "PORT",
        protocol: "http",
        port: 8080,
        serves: "/api/v1, /webhooks, /connect, /docs, /mcp, /livez, /readyz; the only public port",
      },
      OPERATION,
    ],
    calls: [
      { to: "workflows", setting: "WORKFLOWS_GRPC_ADDR", protocol: "grpc" },
      { to: "runs-api", setting: "RUNS_GRPC_ADDR", protocol: "grpc" },
      { to: "tables", setting: "TABLES_GRPC_ADDR", protocol: "grpc" },
      { to: "integrations", setting: "INTEGRATIONS_GRPC_ADDR", protocol: "grpc" },
      { to: "webhooks", setting: "WEBHOOKS_GRPC_ADDR", protocol: "grpc" },
      { to: "webhooks", setting: "WEBHOOKS_HTTP_ADDR", protocol: "http" },
    ],
    callsOutside: false,
    databaseSessions: { pools: 1, besides: 1 },
    stopSecondsMax: 15,
  },
];

/** The part of a name. */
export function partOf(name: PartName): Part {
  const part = PARTS.find((each) => each.name === name);
  if (part === undefined) throw new Error(`There is no part ${name}.`);
  return part;
}

type Common = Pick<
  Part,
  | "service"
  | "main"
  | "databaseRole"
  | "natsUser"
  | "accepts"
  | "fixed"
  | "settings"
  | "required"
  | "readsProviders"
>;

/** What follows from a service's name and from the settings that its configuration picks. */
function service<Name extends ServiceName>(
  name: Name,
  config: { shape: Readonly<Partial<Record<SettingName, ZodType>>> },
): Common & { name: Name } {
  const picked = namesOf(config.shape);
  return {
    name,
    service: name,
    main: `services/${name}/src/main.ts`,
    databaseRole: `workflow_${name}`,
    natsUser: name,
    accepts: isAudience(name) ? callersOf(name) : [],
    fixed: {},
    settings: picked,
    required: picked.filter(
      (setting) => config.shape[setting]?.safeParse(undefined).success !== true,
    ),
    readsProviders: false,
  };
}

function isAudience(name: ServiceName): name is TokenAudience {
  return name !== "gateway";
}

function grpc(setting: SettingName, port: number): Listener {
  return { setting, protocol: "grpc", port, serves: GRPC_SERVICES };
}

function namesOf<Name extends string>(shape: Readonly<Partial<Record<Name, unknown>>>): Name[] {
  return Object.keys(shape).filter((key): key is Name => Object.hasOwn(shape, key));
}
