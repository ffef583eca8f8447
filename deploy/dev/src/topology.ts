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
 * The processes of a system whose services run apart, their settings, and who calls whom. This is the one source
 * for `npm run start:separate`, the manifests, and docs/ops/separate.md.
 */

/** A folder of services/. The service's schema, NATS user and Postgres role have its name. */
export type ServiceName = "gateway" | "workflows" | "runs" | "tables" | "integrations" | "webhooks";

/** A kind of process. The runs service is two of them. */
export type PartName =
  "gateway" | "workflows" | "runs-api" | "runs-worker" | "tables" | "integrations" | "webhooks";

/** A port on which a part takes connections. */
export interface Listener {
  /** The setting with the port, or with host and port. */
  setting: SettingName;
  /** The protocol. gRPC uses TLS when GRPC_TLS_CERT_FILE is set. */
  protocol: "http" | "grpc";
  /** The setting's default port. */
  port: number;
  /** A description of what is served there. */
  serves: string;
}

/** A connection that a part opens to another part. */
export interface Edge {
  to: PartName;
  /** The setting with the callee's address, in the caller's environment and in the callee's own. */
  setting: SettingName;
  protocol: "http" | "grpc";
}

/** A kind of process: its program, settings, listeners and calls. */
export interface Part {
  name: PartName;
  service: ServiceName;
  /** The program, as a path from the root of the repository. */
  main: string;
  /** The role of its database connections. It owns nothing (deploy/postgres). */
  databaseRole: string;
  /** Its user on a NATS server that uses deploy/nats/accounts.conf. */
  natsUser: ServiceName;
  /** The issuer whose key is INTERNAL_TOKEN_PRIVATE_KEY; null for a part that calls nobody. */
  signsAs: TokenIssuer | null;
  /**
   * The issuers whose keys INTERNAL_TOKEN_PUBLIC_KEYS must hold. Admin's is needed where people mint tokens.
   */
  accepts: readonly TokenIssuer[];
  /** The settings that select this part of its service. */
  fixed: Readonly<Partial<Record<SettingName, string>>>;
  /**
   * Every setting that it reads. With `readsProviders`, those of providers (`<PROVIDER>_…`) as well.
   */
  settings: readonly SettingName[];
  /** The settings without which it does not start. */
  required: readonly SettingName[];
  /** Whether it reads the settings of providers, such as `<PROVIDER>_CLIENT_ID`. */
  readsProviders: boolean;
  listens: readonly Listener[];
  calls: readonly Edge[];
  /** Whether it connects to outside hosts that tenants or operators name. */
  callsOutside: boolean;
  /** The highest number of Postgres sessions: `pools` times DATABASE_POOL_SIZE, plus `besides`. */
  databaseSessions: { pools: number; besides: number };
  /** After how many seconds a stopping process ends itself. An orchestrator has to wait longer. */
  stopSecondsMax: number;
}

const GRPC_SERVICES = "gRPC services, grpc.health.v1";
const OPERATION: Listener = {
  setting: "METRICS_PORT",
  protocol: "http",
  port: 9464,
  serves: "/metrics, /livez, /readyz; on METRICS_HOST",
};

/** The parts, in a natural order for starting. Any order works. */
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

/** The facts that follow from a service's name and from the settings of its configuration. */
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
