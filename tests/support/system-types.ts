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

/** Somebody who can sign in. */
export interface Person {
  id: string;
  email: string;
  password: string;
}

/** What a gateway can be told beside what all of the system share. */
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
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  origin: string;
  /** The tenant that requests speak for unless they say otherwise. */
  acme: Company;
  /** Another tenant. */
  globex: Company;
  /** One request below `/api/v1`, answered in the envelope. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** A key of a company with these scopes only. */
  createKey(company: Company, scopes: readonly Scope[], expiresAt?: Date): Promise<string>;
  /** A new person in a company, whose sign-ins cost next to nothing. */
  createPerson(company: Company, role: Role): Promise<Person>;
  /** The database as its owner sees it. */
  database: Database;
  /** Where the services listen, by the part of the proto packages that names them. */
  grpcAddresses: Readonly<
    Record<"workflows" | "runs" | "tables" | "integrations" | "webhooks", string>
  >;
  /** The keys of all that sign tokens which the services accept. */
  tokens: TestTokens;
  /** The NATS server of separate processes; null in one process, whose bus hands events on before it goes on. */
  natsUrl: string | null;
  /** Starts one more gateway, which ends with the system unless it is stopped before. */
  startGateway(options?: GatewayOptions): Promise<Gateway>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  /** A migrated database to use, instead of a fresh one that is dropped in the end. */
  databaseUrl?: string;
  /** How long runs of a worker that lost its database wait for their next turn, in milliseconds. */
  leaseMs?: number;
  /** The mail server and the sender of the e-mail step; without them it is not configured. */
  mail?: { smtpUrl: string; emailFrom: string; perDay?: number };
  /** How accounts are connected: what the operator set for providers, and the broker. */
  connecting?: Pick<IntegrationsServiceOptions, "providers" | "broker" | "answerTimeoutMs">;
  /** Where tenants' requests may go: anywhere by default, private addresses included. */
  outbound?: { allowPrivate: boolean; dnsServers: readonly string[] };
  /** What the operator set for providers, by their ids; nothing by default. */
  providers?: IntegrationsServiceOptions["providers"];
  /** The AI providers that agents ask, what a company may use a day, and how long an exchange may take. */
  agents?: {
    openai?: ModelDouble;
    anthropic?: ModelDouble;
    tokensPerDay?: number;
    timeoutMs?: number;
  };
  /** Secrets of senders, delays, retention and the like of the webhooks service. */
  webhooks?: Partial<WebhooksServiceOptions>;
  /** What one company may have at a time in the runs service; by default as much as anywhere. */
  companyLimits?: Pick<
    RunsServiceOptions,
    "companyBacklogMax" | "companyWatchersMax" | "companySyncWaitsMax"
  >;
  /** Where traces go, and which; without it there are none. */
  tracing?: Pick<TraceSettings, "sampler" | "ratio"> & { endpoint: string };
  /** Where the services register their metrics; without it none are taken. */
  metricsRegistry?: Registry;
  /** Gets every line that the services log, down to debug; without it they are quiet. */
  log?: { write(line: string): void };
}

/** The services of a system, wherever they run. */
export interface Services extends Pick<
  WholeSystem,
  "startGateway" | "grpcAddresses" | "tokens" | "stop"
> {
  /** Where callers reach it, when a gateway is there already. */
  origin?: string;
  /** The NATS server, when they have one. */
  natsUrl?: string | undefined;
}
