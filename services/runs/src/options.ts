import type { EventBus } from "@workflow/events";
import type { RpcTls, VerificationKey } from "@workflow/rpc";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { EmailClient } from "./email/send-email-client.ts";
import type { SecretsClient } from "./secrets/resolve-secrets.ts";
import type { TablesClient } from "./tables/tables-client.ts";

/** Which halves of the service a process runs. */
export type RunsRole = "all" | "api" | "worker";

/** What the service needs from its surroundings. */
export interface RunsServiceOptions {
  /** `all` is API and worker in one process. */
  role: RunsRole;
  databaseUrl: string;
  databasePoolSize: number;
  /** Where the API listens: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** Whose tokens callers may show. */
  tokenPublicKeys: readonly VerificationKey[];
  tls?: RpcTls | undefined;
  /** Where run lifecycle events are published. */
  bus: EventBus;
  /** Where workers get the secrets that templates name; without it none exist. */
  secrets?: SecretsClient | undefined;
  /** The way out for e-mail; without it none can be sent. */
  email?: EmailClient | undefined;
  /** The way to data tables; without it there are none. */
  tables?: TablesClient | undefined;
  /** Lets steps call http and private addresses; for development and tests. */
  outboundAllowPrivate: boolean;
  /** Runs that this process executes at the same time. */
  workerConcurrency: number;
  /** How long a silent worker keeps its tasks, in milliseconds. */
  leaseMs?: number;
  /** The clock by which schedules fire; that of the machine by default. */
  now?: () => Date;
  logger: Logger;
  /** Where the service's metrics are registered; without one none are taken. */
  metricsRegistry?: Registry | undefined;
}
