import type { EventBus } from "@workflow/events";
import type { IssuerKeys, RpcTls } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { AgentClient } from "./interpreter/effects/agent-client.ts";
import type { EmailClient } from "./interpreter/effects/email-client.ts";
import type { ProviderClient } from "./interpreter/effects/provider-client.ts";
import type { TablesClient } from "./interpreter/effects/tables-client.ts";
import type { SecretsClient } from "./secrets/resolve-secrets.ts";

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
  /** Whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  grpcTls?: RpcTls | undefined;
  /** Where run lifecycle events are published. */
  bus: EventBus;
  /** Where workers get the secrets that templates name; without it none exist. */
  secrets?: SecretsClient | undefined;
  /** The way out for e-mail; without it none can be sent. */
  email?: EmailClient | undefined;
  /** The way out to AI agents; without it none can be asked. */
  agents?: AgentClient | undefined;
  /** The way out to providers; without it none can be called. */
  providers?: ProviderClient | undefined;
  /** The way to data tables; without it there are none. */
  tables?: TablesClient | undefined;
  /** Lets steps call http and private addresses; for development and tests. */
  outboundAllowPrivate: boolean;
  /** Name servers for the hosts that steps call; those of the machine by default. */
  outboundDnsServers?: readonly string[] | undefined;
  /** NAT64 prefixes of the network, besides the known ones. */
  outboundNat64Prefixes?: readonly string[] | undefined;
  /** Runs that this process executes at the same time. */
  workerConcurrency: number;
  /** Whose runs this process executes; those of the default pool by default (ADR 63). */
  workerPool?: string | undefined;
  /** Most bytes that the inputs and outputs of a run's steps may have; 64 MiB by default (D56). */
  runBytesMax?: number;
  /** Waits of so many milliseconds stay in memory where nobody needs the slot; 5,000 by default. */
  shortWaitMs?: number;
  /** Memory for what the runs of this process hold, in bytes; 512 MiB by default. */
  workerMemoryBytes?: number;
  /** Runs of one company that may be pending; 200,000 by default (D57). */
  companyBacklogMax?: number;
  /**
   * Bytes of large runs that are read at the same time, 32 and 96 MiB by default, and how long others
   * wait for their turn, in milliseconds, 10,000 by default.
   */
  reading?: { perTenant: number; total: number; waitMs?: number };
  /** Runs that may descend from one; 10,000 by default (D60). */
  descendantsMax?: number;
  /** How long a step waits to start a run while the backlog is full, in ms; 10 minutes by default. */
  childPatienceMs?: number;
  /** Runs of one company that may be watched at the same time; 1,000 by default. */
  companyWatchersMax?: number;
  /** Callers of one company that may wait for their runs at the same time; 1,000 by default. */
  companySyncWaitsMax?: number;
  /** Days for which ended runs are kept; 0, the default, for ever (D58). */
  runRetentionDays?: number;
  /** How often a worker looks for runs whose time is over, in milliseconds; ten minutes by default. */
  runRetentionIntervalMs?: number;
  /** How long a silent worker keeps its tasks, in milliseconds. */
  leaseMs?: number;
  /** When a statement outside the engine is given up, in milliseconds; 30,000 by default. */
  statementTimeoutMs?: number;
  /** When a statement of the engine is given up, in milliseconds; 10,000 by default. */
  engineStatementTimeoutMs?: number;
  /** How often what belongs together is compared, in milliseconds; 30,000 by default (ADR 33). */
  reconcileIntervalMs?: number;
  /** The clock by which schedules fire; that of the machine by default. */
  now?: () => Date;
  logger: Logger;
  /** Where the service's metrics are registered; without one none are taken. */
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of traces that are recorded; without one there are none. */
  tracer?: Tracer | undefined;
}
