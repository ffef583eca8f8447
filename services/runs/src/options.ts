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

/** The dependencies of the service. */
export interface RunsServiceOptions {
  /** `all` is API and worker in one process. */
  role: RunsRole;
  databaseUrl: string;
  databasePoolSize: number;
  /** The address of the API: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** The issuers whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  grpcTls?: RpcTls | undefined;
  /** The bus on which run lifecycle events are published. */
  bus: EventBus;
  /** The client from which workers get the secrets that templates name; without it there are none. */
  secrets?: SecretsClient | undefined;
  /** The client for e-mail; without it none can be sent. */
  email?: EmailClient | undefined;
  /** The client for AI agents; without it none can be asked. */
  agents?: AgentClient | undefined;
  /** The client for providers; without it none can be called. */
  providers?: ProviderClient | undefined;
  /** The client for data tables; without it there are none. */
  tables?: TablesClient | undefined;
  /** Lets steps call http and private addresses; for development and tests. */
  outboundAllowPrivate: boolean;
  /** Name servers for the hosts that steps call; those of the machine by default. */
  outboundDnsServers?: readonly string[] | undefined;
  /** NAT64 prefixes of the network, besides the known ones. */
  outboundNat64Prefixes?: readonly string[] | undefined;
  /** Runs that this process executes at the same time. */
  workerConcurrency: number;
  /** The pool whose runs this process executes; the default pool if left out (ADR 63). */
  workerPool?: string | undefined;
  /** The most bytes that the inputs and outputs of a run's steps may have; 64 MiB by default (D56). */
  runBytesMax?: number;
  /**
   * A wait up to this long stays in memory where nobody needs the slot, in milliseconds; 5,000 by
   * default.
   */
  shortWaitMs?: number;
  /** Memory for the data of this process's runs, in bytes; 512 MiB by default. */
  workerMemoryBytes?: number;
  /** Runs of one company that may be pending; 200,000 by default (D57). */
  companyBacklogMax?: number;
  /**
   * Bytes of large runs that are read at the same time, 32 MiB per company and 96 MiB in all by default.
   * Other readers wait for their turn for `waitMs`, 10,000 by default.
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
  /**
   * How often a worker looks for runs whose retention is over, in milliseconds; ten minutes by default.
   */
  runRetentionIntervalMs?: number;
  /** How long a silent worker keeps its tasks, in milliseconds. */
  leaseMs?: number;
  /** The time limit of a statement outside the engine, in milliseconds; 30,000 by default. */
  statementTimeoutMs?: number;
  /** The time limit of a statement of the engine, in milliseconds; 10,000 by default. */
  engineStatementTimeoutMs?: number;
  /** How often tables are reconciled, in milliseconds; 30,000 by default (ADR 33). */
  reconcileIntervalMs?: number;
  /** The clock that decides when schedules fire; that of the machine by default. */
  now?: () => Date;
  logger: Logger;
  /** The registry of the service's metrics; without one none are taken. */
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of recorded traces; without one there are none. */
  tracer?: Tracer | undefined;
}
