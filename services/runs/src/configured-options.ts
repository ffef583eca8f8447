import type { RunsSettings } from "./config.ts";
import type { RunsServiceOptions } from "./options.ts";

/** The options that settings alone decide. */
export function configuredOptions(settings: RunsSettings) {
  return {
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    grpcAddress: settings.RUNS_GRPC_ADDR,
    grpcReflection: settings.GRPC_REFLECTION,
    outboundAllowPrivate: settings.OUTBOUND_ALLOW_PRIVATE,
    outboundDnsServers: settings.OUTBOUND_DNS_SERVERS,
    outboundNat64Prefixes: settings.OUTBOUND_NAT64_PREFIXES,
    workerConcurrency: settings.WORKER_CONCURRENCY,
    workerPool: settings.RUNS_POOL,
    workerMemoryBytes: settings.WORKER_MEMORY_MB * 1024 * 1024,
    runBytesMax: settings.RUN_BYTES_MAX,
    companyBacklogMax: settings.COMPANY_BACKLOG_MAX,
    companyWatchersMax: settings.COMPANY_WATCHERS_MAX,
    companySyncWaitsMax: settings.COMPANY_SYNC_WAITS_MAX,
    runRetentionDays: settings.RUN_RETENTION_DAYS,
    leaseMs: settings.RUNS_LEASE_MS,
  } satisfies Partial<RunsServiceOptions>;
}
