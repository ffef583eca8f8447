import type { ProviderSettings } from "@workflow/service";
import { toModelSettings } from "./agents/models/model-settings.ts";
import type { IntegrationsSettings } from "./config.ts";
import type { IntegrationsServiceOptions } from "./service.ts";

/** The settings of the service, and those of each provider, by its id. */
type Settings = IntegrationsSettings & { providers: ReadonlyMap<string, ProviderSettings> };

/** The options that settings alone decide. */
export function configuredOptions(settings: Settings) {
  const { NANGO_BASE_URL: baseUrl, NANGO_SECRET_KEY: secretKey } = settings;
  return {
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    mail: {
      smtpUrl: settings.SMTP_URL,
      emailFrom: settings.EMAIL_FROM,
      fromDomains: settings.EMAIL_FROM_DOMAINS,
      perDay: settings.EMAIL_PER_DAY,
    },
    agentCalls: {
      tokensPerDay: settings.AGENT_TOKENS_PER_DAY,
      retentionDays: settings.AGENT_EXECUTION_RETENTION_DAYS,
    },
    providers: settings.providers,
    broker: secretKey === undefined ? null : { baseUrl, secretKey },
    models: toModelSettings(settings),
    agentTimeoutMs: settings.AGENT_TIMEOUT_MS,
    outboundAllowPrivate: settings.OUTBOUND_ALLOW_PRIVATE,
    outboundDnsServers: settings.OUTBOUND_DNS_SERVERS,
    outboundNat64Prefixes: settings.OUTBOUND_NAT64_PREFIXES,
    grpcAddress: settings.INTEGRATIONS_GRPC_ADDR,
    grpcReflection: settings.GRPC_REFLECTION,
  } satisfies Partial<IntegrationsServiceOptions>;
}
