import type { Database } from "@workflow/db";
import type { TraceSettings } from "@workflow/service";
import type { GatewayServiceOptions } from "@workflow/service-gateway";
import type { Role, Scope } from "@workflow/service-gateway/admin";
import type { IntegrationsServiceOptions } from "@workflow/service-integrations";
import type { RunsServiceOptions } from "@workflow/service-runs";
import type { WebhooksServiceOptions } from "@workflow/service-webhooks";
import type { ModelDouble, TestTokens } from "@workflow/testkit";
import type { Registry } from "prom-client";
import type { Answer, CallOptions } from "./api-client.ts";

/** A tenant, with a key that holds every scope, and its owner. */
export interface Company {
  id: string;
  key: string;
  name: string;
  owner: Person;
}

/** A person who can sign in. */
export interface Person {
  id: string;
  email: string;
  password: string;
}

/** The options of a single gateway. */
export type GatewayOptions = Partial<
  Pick<GatewayServiceOptions, "trustedProxies" | "corsOrigins" | "clientTimeouts" | "rateLimits">
>;

/** Another gateway of the same system. */
export interface Gateway {
  origin: string;
  stop(): Promise<void>;
}

/**
 * All services and two tenants: in this process on a database of their own, or with SYSTEM=separate as
 * processes of their own (see tests/separate), which files that need no options share.
 */
export interface WholeSystem {
  /** The origin, `http://127.0.0.1:<port>`, without a slash at the end. */
  origin: string;
  /** The tenant of all requests that name no other. */
  acme: Company;
  /** Another tenant. */
  globex: Company;
  /** Sends one request below `/api/v1`; the answer has to be an envelope. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Makes a key of a company with these scopes only. */
  createKey(company: Company, scopes: readonly Scope[], expiresAt?: Date): Promise<string>;
  /** Makes a person in a company, whose sign-ins cost next to nothing. */
  createPerson(company: Company, role: Role): Promise<Person>;
  /** The database as its owner sees it. */
  database: Database;
  /** The addresses of the services, by the part of the proto packages that names them. */
  grpcAddresses: Readonly<
    Record<"workflows" | "runs" | "tables" | "integrations" | "webhooks", string>
  >;
  /** The keys of all signers whose tokens the services accept. */
  tokens: TestTokens;
  /** The NATS server of separate processes; null in one process, whose bus hands events on before it goes on. */
  natsUrl: string | null;
  /** Starts one more gateway, which ends with the system unless a test stops it before. */
  startGateway(options?: GatewayOptions): Promise<Gateway>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  /** A migrated database; by default a fresh one that is dropped in the end. */
  databaseUrl?: string;
  /** The milliseconds that runs of a worker without its database wait for their next turn. */
  leaseMs?: number;
  /** The mail server and the sender of the e-mail step, which is not configured without them. */
  mail?: { smtpUrl: string; emailFrom: string; perDay?: number };
  /** The operator's settings for connecting accounts: providers, and the broker. */
  connecting?: Pick<IntegrationsServiceOptions, "providers" | "broker" | "answerTimeoutMs">;
  /** The hosts that tenants' requests may reach: by default all, private addresses included. */
  outbound?: { allowPrivate: boolean; dnsServers: readonly string[] };
  /** The operator's settings for providers, by their ids; nothing by default. */
  providers?: IntegrationsServiceOptions["providers"];
  /** The AI providers of agents, a company's tokens a day, and the time limit of an exchange. */
  agents?: {
    openai?: ModelDouble;
    anthropic?: ModelDouble;
    tokensPerDay?: number;
    timeoutMs?: number;
  };
  /** Settings of the webhooks service, such as secrets of senders, delays and retention. */
  webhooks?: Partial<WebhooksServiceOptions>;
  /** Limits of one company in the runs service; by default those of the service. */
  companyLimits?: Pick<
    RunsServiceOptions,
    "companyBacklogMax" | "companyWatchersMax" | "companySyncWaitsMax"
  >;
  /** The collector of traces and their sampling; without it there are none. */
  tracing?: Pick<TraceSettings, "sampler" | "ratio"> & { endpoint: string };
  /** The registry of the services' metrics; without it there are none. */
  metricsRegistry?: Registry;
  /** A writer that gets every line of the log, down to debug; without it the services are quiet. */
  log?: { write(line: string): void };
}

/** The services of a system, in this process or in others. */
export interface Services extends Pick<
  WholeSystem,
  "startGateway" | "grpcAddresses" | "tokens" | "stop"
> {
  /** The origin for callers, when a gateway is there already. */
  origin?: string;
  /** The NATS server, when they have one. */
  natsUrl?: string | undefined;
}
