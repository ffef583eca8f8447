import type { WebhooksSettings } from "./config.ts";
import type { WebhooksServiceOptions } from "./options.ts";

/** The options that settings alone decide. */
export function configuredOptions(settings: WebhooksSettings) {
  return {
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    grpcAddress: settings.WEBHOOKS_GRPC_ADDR,
    grpcReflection: settings.GRPC_REFLECTION,
    httpAddress: settings.WEBHOOKS_HTTP_ADDR,
    inboundSecrets: {
      stripe: settings.STRIPE_WEBHOOK_SECRET,
      resend: settings.RESEND_WEBHOOK_SECRET,
      airwallex: settings.AIRWALLEX_WEBHOOK_SECRET,
      hubspot: settings.HUBSPOT_CLIENT_SECRET,
      finance: settings.FINANCE_WEBHOOK_SECRET,
      nango: settings.NANGO_WEBHOOK_SECRET,
    },
    requireSignature: settings.WEBHOOK_REQUIRE_SIGNATURE,
    retryDelaysMs: settings.DELIVERY_RETRY_DELAYS_MS,
    retentionDays: settings.WEBHOOK_RETENTION_DAYS,
    outboundAllowPrivate: settings.OUTBOUND_ALLOW_PRIVATE,
    outboundDnsServers: settings.OUTBOUND_DNS_SERVERS,
    outboundNat64Prefixes: settings.OUTBOUND_NAT64_PREFIXES,
  } satisfies Partial<WebhooksServiceOptions>;
}
