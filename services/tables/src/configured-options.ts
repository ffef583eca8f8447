import type { TablesSettings } from "./config.ts";
import type { TablesServiceOptions } from "./service.ts";

/** The options that settings alone decide. */
export function configuredOptions(settings: TablesSettings) {
  return {
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    cacheBytesMax: settings.TABLES_CACHE_MB * 1024 * 1024,
    tableBytesMax: settings.TABLE_BYTES_MAX,
    companyTableBytesMax: settings.TABLES_COMPANY_BYTES_MAX,
    threads: settings.TABLES_THREADS,
    spill: spillOf(settings),
    grpcAddress: settings.TABLES_GRPC_ADDR,
    grpcReflection: settings.GRPC_REFLECTION,
  } satisfies Partial<TablesServiceOptions>;
}

function spillOf({ TABLES_SPILL_DIR: directory, TABLES_SPILL_MB: megabytes }: TablesSettings) {
  return directory === undefined ? undefined : { directory, bytesMax: megabytes * 1024 * 1024 };
}
