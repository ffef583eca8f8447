import { providerSettingName } from "@workflow/service";
import type { ProviderSettings } from "@workflow/service";
import type { GatewayOptions, SystemOptions } from "../system-types.ts";

/** A test gave an option that no setting of a process expresses. */
class NotApartError extends Error {
  override readonly name = "NotApartError";

  constructor(what: string) {
    super(
      `${what} can be given to services in the test's own process only: this file cannot run ` +
        "against separate processes. Say so in tests/separate/in-process-only.ts.",
    );
  }
}

type Environment = Record<string, string>;

/** The environment variables for the options of a system. */
export function environmentOf(options: SystemOptions): Environment {
  const { leaseMs, mail, connecting, outbound, agents = {}, companyLimits = {} } = options;
  if (connecting?.answerTimeoutMs !== undefined) throw new NotApartError("answerTimeoutMs");
  if (options.metricsRegistry !== undefined) throw new NotApartError("metricsRegistry");
  const { tracing } = options;
  const providers = options.providers ?? connecting?.providers ?? new Map();
  return withoutUndefined({
    RUNS_LEASE_MS: leaseMs,
    SMTP_URL: mail?.smtpUrl,
    EMAIL_FROM: mail?.emailFrom,
    EMAIL_PER_DAY: mail?.perDay,
    NANGO_BASE_URL: connecting?.broker?.baseUrl,
    NANGO_SECRET_KEY: connecting?.broker?.secretKey,
    OUTBOUND_ALLOW_PRIVATE: outbound?.allowPrivate ?? true,
    OUTBOUND_DNS_SERVERS: outbound?.dnsServers.join(","),
    OPENAI_API_KEY: agents.openai?.key,
    OPENAI_BASE_URL: agents.openai?.baseUrl,
    ANTHROPIC_API_KEY: agents.anthropic?.key,
    ANTHROPIC_BASE_URL: agents.anthropic?.baseUrl,
    AGENT_TOKENS_PER_DAY: agents.tokensPerDay,
    AGENT_TIMEOUT_MS: agents.timeoutMs,
    COMPANY_BACKLOG_MAX: companyLimits.companyBacklogMax,
    COMPANY_WATCHERS_MAX: companyLimits.companyWatchersMax,
    COMPANY_SYNC_WAITS_MAX: companyLimits.companySyncWaitsMax,
    OTEL_EXPORTER_OTLP_ENDPOINT: tracing?.endpoint,
    OTEL_TRACES_SAMPLER: tracing?.sampler,
    OTEL_TRACES_SAMPLER_ARG: tracing?.ratio,
    ...webhooksEnvironment(options.webhooks ?? {}),
    ...providersEnvironment(providers),
  });
}

/** The environment variables for the options of a gateway. */
export function gatewayEnvironmentOf(options: GatewayOptions): Environment {
  const { trustedProxies, corsOrigins, clientTimeouts, rateLimits } = options;
  if (clientTimeouts !== undefined) throw new NotApartError("clientTimeouts");
  if (rateLimits?.windowMs !== undefined) throw new NotApartError("windowMs");
  return withoutUndefined({
    TRUSTED_PROXIES: typeof trustedProxies === "object" ? trustedProxies.join(",") : trustedProxies,
    CORS_ORIGINS: corsOrigins?.join(","),
    RATE_LIMIT_READ: rateLimits?.limits?.read,
    RATE_LIMIT_WRITE: rateLimits?.limits?.write,
    RATE_LIMIT_EXECUTE: rateLimits?.limits?.execute,
    RATE_LIMIT_COMPANY_FACTOR: rateLimits?.companyFactor,
    RATE_LIMIT_INBOUND: rateLimits?.inbound,
    NATS_URL: rateLimits?.natsUrl,
  });
}

function webhooksEnvironment(given: NonNullable<SystemOptions["webhooks"]>) {
  const { inboundSecrets = {}, requireSignature, retryDelaysMs, retentionDays, ...rest } = given;
  const { publicUrl, ...others } = rest;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new NotApartError(`webhooks.${unknown}`);
  return {
    STRIPE_WEBHOOK_SECRET: inboundSecrets.stripe,
    RESEND_WEBHOOK_SECRET: inboundSecrets.resend,
    AIRWALLEX_WEBHOOK_SECRET: inboundSecrets.airwallex,
    HUBSPOT_CLIENT_SECRET: inboundSecrets.hubspot,
    FINANCE_WEBHOOK_SECRET: inboundSecrets.finance,
    NANGO_WEBHOOK_SECRET: inboundSecrets.nango,
    WEBHOOK_REQUIRE_SIGNATURE: requireSignature,
    DELIVERY_RETRY_DELAYS_MS: retryDelaysMs?.join(","),
    WEBHOOK_RETENTION_DAYS: retentionDays,
    PUBLIC_URL: publicUrl,
  };
}

function providersEnvironment(providers: ReadonlyMap<string, ProviderSettings>): Environment {
  const entries = [...providers].flatMap(([id, settings]) => [
    [providerSettingName(id, "BASE_URL"), settings.baseUrl],
    [providerSettingName(id, "CLIENT_ID"), settings.clientId],
    [providerSettingName(id, "CLIENT_SECRET"), settings.clientSecret],
    [providerSettingName(id, "OAUTH_BASE_URL"), settings.oauthBaseUrl],
    [providerSettingName(id, "EVENTS_TARGET"), settings.eventsTarget],
  ]);
  return withoutUndefined(Object.fromEntries(entries));
}

function withoutUndefined(
  given: Readonly<Record<string, string | number | boolean | undefined>>,
): Environment {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );
}
