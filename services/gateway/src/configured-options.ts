import type { GatewaySettings } from "./config.ts";
import type { GatewayServiceOptions } from "./service.ts";

/** The options that settings alone decide. */
export function configuredOptions(settings: GatewaySettings) {
  return {
    port: settings.PORT,
    publicUrl: settings.PUBLIC_URL,
    trustedProxies: settings.TRUSTED_PROXIES,
    corsOrigins: settings.CORS_ORIGINS,
    connectionsMax: settings.CONNECTIONS_MAX,
    companyConnectionsMax: settings.COMPANY_CONNECTIONS_MAX,
    auditRetentionDays: settings.AUDIT_RETENTION_DAYS,
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    rateLimits: {
      limits: {
        read: settings.RATE_LIMIT_READ,
        write: settings.RATE_LIMIT_WRITE,
        execute: settings.RATE_LIMIT_EXECUTE,
      },
      companyFactor: settings.RATE_LIMIT_COMPANY_FACTOR,
      inbound: settings.RATE_LIMIT_INBOUND,
      natsUrl: settings.NATS_URL,
    },
  } satisfies Partial<GatewayServiceOptions>;
}
