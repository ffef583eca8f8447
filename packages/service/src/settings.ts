import type { z } from "zod";
import {
  base64Keys,
  flag,
  grpcAddress,
  millisecondsList,
  oneOf,
  pemKey,
  pemKeys,
  port,
  text,
  url,
  wholeNumber,
} from "./setting-types.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * The one catalogue of everything that can be set by environment (D53). Each service picks the
 * settings it needs; docs/ops/settings.md is made from it. `.default()` values are final ones, what
 * has none and is optional is off or chosen by the service.
 */
export const SETTINGS = {
  PORT: port()
    .default(8080)
    .describe("Port of the gateway: /api/v1, /webhooks, /docs and /.well-known."),
  TRUSTED_PROXIES: wholeNumber(0, 10)
    .default(0)
    .describe(
      "Reverse proxies in front of the gateway: so many entries at the end of X-Forwarded-For are believed.",
    ),
  DATA_DIR: text("the path of a folder")
    .default(".data")
    .describe("Folder of the embedded Postgres and of the keys that are made on first start."),
  DATABASE_URL: url("postgres", "postgresql")
    .optional()
    .describe("Postgres to use; without it npm start runs an embedded one."),
  DATABASE_POOL_SIZE: wholeNumber(1, 500)
    .default(10)
    .describe("Most connections that one service opens to Postgres."),
  NATS_URL: url("nats", "tls", "ws", "wss")
    .optional()
    .describe("NATS server to use; without it events stay within the process of npm start."),
  TASK_RUNTIME: oneOf(["postgres", "restate"])
    .default("postgres")
    .describe("What executes runs: leased tasks in Postgres, or Restate."),
  RESTATE_INGRESS_URL: url("http", "https").optional().describe("Ingress address of Restate."),
  RESTATE_ADMIN_URL: url("http", "https").optional().describe("Admin address of Restate."),

  WORKFLOWS_GRPC_ADDR: grpcAddress()
    .default("127.0.0.1:50051")
    .describe("Where the workflows service listens and is found."),
  RUNS_GRPC_ADDR: grpcAddress()
    .default("127.0.0.1:50052")
    .describe("Where the runs service listens and is found."),
  TABLES_GRPC_ADDR: grpcAddress()
    .default("127.0.0.1:50053")
    .describe("Where the tables service listens and is found."),
  INTEGRATIONS_GRPC_ADDR: grpcAddress()
    .default("127.0.0.1:50054")
    .describe("Where the integrations service listens and is found."),
  WEBHOOKS_GRPC_ADDR: grpcAddress()
    .default("127.0.0.1:50055")
    .describe("Where the webhooks service listens and is found."),
  GRPC_TLS_CERT_FILE: text("the path of a PEM file")
    .optional()
    .describe("Certificate of this process for gRPC; with it and its key, gRPC speaks TLS."),
  GRPC_TLS_KEY_FILE: text("the path of a PEM file")
    .optional()
    .describe("Private key that belongs to GRPC_TLS_CERT_FILE."),
  GRPC_TLS_CA_FILE: text("the path of a PEM file")
    .optional()
    .describe(
      "Authority that peers are checked against; on a server it demands client certificates.",
    ),
  INTERNAL_TOKEN_PRIVATE_KEY: pemKey()
    .optional()
    .describe("Ed25519 key that signs the tokens between services; npm start makes its own."),
  INTERNAL_TOKEN_PUBLIC_KEYS: pemKeys()
    .optional()
    .describe("Ed25519 public keys whose tokens are accepted; two while keys are being rotated."),
  RUNS_ROLE: oneOf(["all", "api", "worker"])
    .default("all")
    .describe("Which half of the runs service a process is: the API, a worker, or both."),
  RUNS_LEASE_MS: wholeNumber(500, 600_000)
    .default(10_000)
    .describe("How long a silent worker keeps its runs before another takes them over."),
  WORKER_CONCURRENCY: wholeNumber(1, 1_000)
    .default(200)
    .describe("Runs that one worker process advances at the same time."),
  TABLES_CACHE_MB: wholeNumber(1, 65_536)
    .default(256)
    .describe("Memory for columns of data tables that a tables process keeps, in MiB."),

  RATE_LIMIT_READ: rateLimit(1_000).describe(
    "Reading requests a minute and caller; 0 is no limit.",
  ),
  RATE_LIMIT_WRITE: rateLimit(100).describe("Writing requests a minute and caller; 0 is no limit."),
  RATE_LIMIT_EXECUTE: rateLimit(500).describe(
    "Requests that start or steer runs, a minute and caller; 0 is no limit.",
  ),
  RATE_LIMIT_INBOUND: rateLimit(10_000).describe(
    "Inbound webhook requests a minute and company; 0 is no limit.",
  ),

  OUTBOUND_ALLOW_PRIVATE: flag()
    .default(false)
    .describe("Lets tenants name http and private or loopback hosts; for development and tests."),
  DELIVERY_RETRY_DELAYS_MS: millisecondsList()
    .default([
      10 * SECOND_MS,
      30 * SECOND_MS,
      MINUTE_MS,
      5 * MINUTE_MS,
      15 * MINUTE_MS,
      HOUR_MS,
      6 * HOUR_MS,
      24 * HOUR_MS,
    ])
    .describe("Waiting time after each failed delivery attempt."),
  WEBHOOK_REQUIRE_SIGNATURE: flag()
    .default(false)
    .describe("Refuses inbound webhooks that cannot be verified."),
  SECRETS_KEK: base64Keys(32)
    .optional()
    .describe(
      "Encrypts stored secrets; several separated by commas: the first encrypts, all decrypt. npm start makes its own, else it is required.",
    ),

  NANGO_BASE_URL: url("http", "https").optional().describe("Address of the OAuth broker's API."),
  NANGO_SECRET_KEY: text().optional().describe("Secret key for the OAuth broker's API."),
  NANGO_WEBHOOK_SECRET: text().optional().describe("Verifies webhooks of the OAuth broker."),
  STRIPE_WEBHOOK_SECRET: text().optional().describe("Verifies webhooks of Stripe."),
  RESEND_WEBHOOK_SECRET: text().optional().describe("Verifies webhooks of Resend."),
  AIRWALLEX_WEBHOOK_SECRET: text().optional().describe("Verifies webhooks of Airwallex."),
  HUBSPOT_CLIENT_SECRET: text()
    .optional()
    .describe("Verifies webhooks of HubSpot; its OAuth client secret as well."),
  FINANCE_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of the finance application."),

  OPENAI_API_KEY: text().optional().describe("Key for OpenAI."),
  OPENAI_BASE_URL: url("http", "https")
    .default("https://api.openai.com/v1")
    .describe("OpenAI, or a server compatible with it."),
  OPENAI_MODEL: text("the name of a model")
    .default("gpt-5.1")
    .describe("Model of agents whose provider is openai."),
  ANTHROPIC_API_KEY: text().optional().describe("Key for Anthropic."),
  ANTHROPIC_BASE_URL: url("http", "https")
    .default("https://api.anthropic.com")
    .describe("Anthropic, or a server compatible with it."),
  ANTHROPIC_MODEL: text("the name of a model")
    .default("claude-sonnet-4-5")
    .describe("Model of agents whose provider is anthropic."),
  SMTP_URL: url("smtp", "smtps")
    .optional()
    .describe(
      "Mail server for e-mail steps without a connection: smtp:// (STARTTLS where it is offered; with a password it has to be) or smtps://, user and password percent-encoded.",
    ),
  EMAIL_FROM: text("an e-mail address")
    .optional()
    .describe("Sender of e-mail steps without a connection."),

  LOG_LEVEL: oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Least level of log lines."),
  METRICS_PORT: wholeNumber(0, 65_535)
    .default(9464)
    .describe("Port of /metrics for Prometheus; 0 is none."),
  OTEL_EXPORTER_OTLP_ENDPOINT: url("http", "https")
    .optional()
    .describe("OpenTelemetry collector to send traces to."),
} as const satisfies Readonly<Record<string, z.ZodType>>;

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS;

function rateLimit(perMinute: number) {
  return wholeNumber(0, 1_000_000_000).default(perMinute);
}
