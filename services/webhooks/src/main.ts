import { loadTls } from "@workflow/rpc";
import { createLogger, runMain } from "@workflow/service";
import { readConfig } from "./config.ts";
import { startWebhooksService } from "./service.ts";

/** Above the server's own time for finishing calls. */
const STOP_TIMEOUT_MS = 15_000;

await runMain("webhooks", start, { stopTimeoutMs: STOP_TIMEOUT_MS });

async function start() {
  const config = readConfig(process.env);
  return startWebhooksService({
    databaseUrl: config.DATABASE_URL,
    databasePoolSize: config.DATABASE_POOL_SIZE,
    grpcAddress: config.WEBHOOKS_GRPC_ADDR,
    tokenPublicKeys: config.INTERNAL_TOKEN_PUBLIC_KEYS,
    grpcReflection: config.GRPC_REFLECTION,
    grpcTls: await loadTls(config.tlsFiles),
    logger: createLogger({ name: "webhooks", level: config.LOG_LEVEL }),
  });
}
