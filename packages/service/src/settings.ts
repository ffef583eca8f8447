import { SAMPLERS } from "@workflow/tracing";
import type { z } from "zod";
import { origins, trustedProxies } from "./proxy-settings.ts";
import {
  base64Keys,
  flag,
  grpcAddress,
  headerPairs,
  hostAndPort,
  issuerKeys,
  mailDomains,
  millisecondsList,
  nameServers,
  nat64Prefixes,
  oneOf,
  poolName,
  port,
  share,
  signingKey,
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
 * has none and is optional is off or chosen by the service. `withoutEffect` marks what is read by
 * nobody yet and completes "this version …"; whoever begins to read a setting takes its mark away,
 * as a test demands.
 */
export const SETTINGS = {
  PORT: port()
    .default(8080)
    .describe("Port of the gateway: /api/v1, /webhooks, /connect, /docs and /.well-known."),
  PUBLIC_URL: url("http", "https")
    .refine((value) => new URL(value).pathname === "/", "must have no path")
    .optional()
    .describe(
      "Where people and providers reach the gateway, as https://workflows.example.com; if unset, what the Host header of a request names.",
    ),
  TRUSTED_PROXIES: trustedProxies()
    .default(0)
    .describe(
      "Reverse proxies in front of the gateway whose X-Forwarded headers are believed: addresses, CIDR blocks or loopback, linklocal, uniquelocal, separated by commas; or their number, whoever calls.",
    ),
  CORS_ORIGINS: origins()
    .optional()
    .describe(
      "Origins whose web pages may call the API with a key, as https://app.example.com, separated by commas; none if unset.",
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
    .describe(
      "NATS server to use, nats://user:password@host:4222, user and password percent-encoded; without it events stay within the process of npm start.",
    ),
  NATS_REPLICAS: oneOf([1, 3, 5])
    .default(1)
    .describe(
      "Copies of each stream that a service or set-up-nats makes: 3 or 5 in a cluster of as many servers. Streams that are there keep theirs.",
    ),
  TASK_RUNTIME: oneOf(["postgres", "restate"])
    .default("postgres")
    .describe("What executes runs: leased tasks in Postgres. This version refuses restate."),
  RESTATE_INGRESS_URL: url("http", "https")
    .optional()
    .describe("Ingress address of Restate.")
    .meta({ withoutEffect: "does not run on Restate yet" }),
  RESTATE_ADMIN_URL: url("http", "https")
    .optional()
    .describe("Admin address of Restate.")
    .meta({ withoutEffect: "does not run on Restate yet" }),

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
  WEBHOOKS_HTTP_ADDR: hostAndPort()
    .default("127.0.0.1:8081")
    .describe(
      "Where the webhooks service takes inbound webhooks from the gateway, as host:port; not for the public.",
    ),
  WEBHOOKS_HTTP_TLS: flag()
    .default(false)
    .describe(
      "Whether the gateway hands inbound webhooks on over TLS, with the certificates of gRPC; the same for gateway and webhooks.",
    ),
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
  GRPC_REFLECTION: flag()
    .optional()
    .describe(
      "Whether services describe themselves to gRPC clients without a token; if unset, those do that listen on a loopback address or a unix socket.",
    ),
  GRPC_ALLOW_PLAINTEXT: flag()
    .default(false)
    .describe(
      "Lets gRPC without TLS listen on and call addresses beyond this machine, where the network itself encrypts.",
    ),
  INTERNAL_TOKEN_PRIVATE_KEY: signingKey()
    .optional()
    .describe(
      "The process's own Ed25519 key, with which it signs the tokens that it shows to services; npm start makes one for each issuer.",
    ),
  INTERNAL_TOKEN_PUBLIC_KEYS: issuerKeys()
    .optional()
    .describe(
      "Whose tokens are accepted: issuer=key, separated by commas, the key an Ed25519 public key in PEM as base64; issuers are gateway, workflows, runs, webhooks and admin, two keys of one while it changes its own.",
    ),
  RUNS_ROLE: oneOf(["all", "api", "worker"])
    .default("all")
    .describe("Which half of the runs service a process is: the API, a worker, or both."),
  RUNS_POOL: poolName()
    .default("default")
    .describe(
      "The pool of workers that a process belongs to: it executes the runs that rules lead there, those without a rule in `default`.",
    ),
  RUNS_LEASE_MS: wholeNumber(500, 600_000)
    .default(10_000)
    .describe("How long a silent worker keeps its runs before another takes them over."),
  WORKER_CONCURRENCY: wholeNumber(1, 1_000)
    .default(200)
    .describe(
      "Runs that one worker process advances at the same time; a tenth more for companies that would have none.",
    ),
  WORKER_MEMORY_MB: wholeNumber(16, 1_048_576)
    .default(512)
    .describe(
      "Memory that one worker process uses for what its runs hold, in MiB; runs that need more wait for their turn.",
    ),
  RUN_BYTES_MAX: wholeNumber(1_024, 17_179_869_184)
    .default(67_108_864)
    .describe("Most bytes that the inputs and outputs of all steps of a run have together."),
  COMPANY_BACKLOG_MAX: wholeNumber(1, 100_000_000)
    .default(200_000)
    .describe("Runs of one company that may be waiting to begin; starts beyond it answer 429."),
  COMPANY_WATCHERS_MAX: wholeNumber(1, 1_000_000)
    .default(1_000)
    .describe(
      "Runs that one company may watch at the same time (SSE and gRPC) in one runs process; 10,000 in all.",
    ),
  COMPANY_SYNC_WAITS_MAX: wholeNumber(1, 1_000_000)
    .default(1_000)
    .describe(
      "Synchronous starts of one company that may wait for their runs at the same time in one runs process; 10,000 in all.",
    ),
  COMPANY_CONNECTIONS_MAX: wholeNumber(1, 1_000_000)
    .default(2_000)
    .describe("Open connections of one company to one gateway; further ones answer 429."),
  CONNECTIONS_MAX: wholeNumber(1, 1_000_000)
    .default(10_000)
    .describe(
      "Open connections of all to one gateway; nobody holds more of them than are free. Further ones are cut.",
    ),
  STOP_DELAY_MS: wholeNumber(0, 4_000)
    .default(2_000)
    .describe(
      "How long a gateway or webhooks process that was asked to stop goes on taking connections, while /readyz says that it stops: the time in which what is in front of it sends callers elsewhere.",
    ),
  RUN_RETENTION_DAYS: wholeNumber(0, 36_500)
    .default(0)
    .describe(
      "Days for which ended runs are kept, at least, unless their company has a policy of its own; 0 is for ever.",
    ),
  AUDIT_RETENTION_DAYS: wholeNumber(0, 36_500)
    .refine((days) => days === 0 || days >= 30, "must be 0, or at least 30")
    .default(0)
    .describe("Days for which events of the audit log are kept, at least 30; 0 is for ever."),
  TABLE_BYTES_MAX: wholeNumber(1_024, 17_179_869_184)
    .default(268_435_456)
    .describe("Most bytes of JSON that the rows of one data table have together."),
  TABLES_COMPANY_BYTES_MAX: wholeNumber(1_024, 1_125_899_906_842_624)
    .default(10_737_418_240)
    .describe("Most bytes of JSON that the rows of all data tables of one company have together."),
  TABLES_CACHE_MB: wholeNumber(1, 65_536)
    .default(256)
    .describe("Memory for columns of data tables that a tables process keeps, in MiB."),
  TABLES_THREADS: wholeNumber(0, 64)
    .default(0)
    .describe(
      "Threads of a tables process that hold these columns and share that memory; 0 is one for each core but one, from 1 to 4.",
    ),

  RATE_LIMIT_READ: rateLimit(1_000).describe(
    "Reading requests in any minute of one API key, or one user in a company; 0 is no limit.",
  ),
  RATE_LIMIT_WRITE: rateLimit(100).describe(
    "Writing requests in any minute of one API key, or one user in a company; 0 is no limit.",
  ),
  RATE_LIMIT_EXECUTE: rateLimit(500).describe(
    "Requests that start or steer runs in any minute, of one API key or one user in a company; 0 is no limit.",
  ),
  RATE_LIMIT_COMPANY_FACTOR: wholeNumber(0, 10_000)
    .default(20)
    .describe(
      "All keys and users of a company together have so many times the limits of one; 0 is no limit.",
    ),
  RATE_LIMIT_INBOUND: rateLimit(10_000).describe(
    "Inbound webhook requests in any minute of one IP address, or one /64 network of IPv6; 0 is no limit.",
  ),

  OUTBOUND_ALLOW_PRIVATE: flag()
    .default(false)
    .describe("Lets tenants name http and private or loopback hosts; for development and tests."),
  OUTBOUND_DNS_SERVERS: nameServers()
    .optional()
    .describe(
      "Name servers for the hosts that tenants name, as address or address:port; without it those of the machine. Search domains are never used.",
    ),
  OUTBOUND_NAT64_PREFIXES: nat64Prefixes()
    .optional()
    .describe(
      "NAT64 prefixes of the network besides 64:ff9b::/96 and 64:ff9b:1::/48: addresses within are judged by the IPv4 address that they contain.",
    ),
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
  WEBHOOK_RETENTION_DAYS: wholeNumber(8, 36_500)
    .default(30)
    .describe("Days for which inbound events and deliveries are kept; they go by whole weeks."),
  WEBHOOK_REQUIRE_SIGNATURE: flag()
    .default(false)
    .describe("Refuses inbound webhooks that cannot be verified."),
  SECRETS_KEK: base64Keys(32)
    .optional()
    .describe(
      "Encrypts stored secrets; several separated by commas: the first encrypts, all decrypt. npm start makes its own, else it is required.",
    ),

  NANGO_BASE_URL: url("http", "https")
    .default("https://api.nango.dev")
    .describe("Address of the OAuth broker's API, which is Nango's; may be private."),
  NANGO_SECRET_KEY: text()
    .optional()
    .describe(
      "Secret key for the OAuth broker's API; with it accounts are connected through the broker.",
    ),
  NANGO_WEBHOOK_SECRET: text()
    .optional()
    .describe(
      "Verifies webhooks of the OAuth broker; several with commas between them. Without it they are answered 500.",
    ),
  STRIPE_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of Stripe; several with commas between them."),
  RESEND_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of Resend; several with commas between them."),
  AIRWALLEX_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of Airwallex; several with commas between them."),
  HUBSPOT_CLIENT_SECRET: text()
    .optional()
    .describe(
      "Verifies webhooks of HubSpot; several with commas between them, of which the first is its OAuth client secret as well.",
    ),
  FINANCE_WEBHOOK_SECRET: text()
    .optional()
    .describe("Verifies webhooks of the finance application; several with commas between them."),

  OPENAI_API_KEY: text()
    .optional()
    .describe("Key for OpenAI; without it agents whose provider is openai can't be asked."),
  OPENAI_BASE_URL: url("http", "https")
    .default("https://api.openai.com/v1")
    .describe(
      "OpenAI, or a server compatible with it, with the version in the path; may be private and without TLS.",
    ),
  OPENAI_API: oneOf(["auto", "responses", "chat"])
    .default("auto")
    .describe(
      "How that server is asked: by the Responses API or by Chat Completions. auto: OpenAI itself by Responses, others by Chat Completions and, where they do not know it, by Responses.",
    ),
  OPENAI_MODEL: text("the name of a model")
    .default("gpt-6.1-terra")
    .describe("Model of agents whose provider is openai."),
  ANTHROPIC_API_KEY: text()
    .optional()
    .describe("Key for Anthropic; without it agents whose provider is anthropic can't be asked."),
  ANTHROPIC_BASE_URL: url("http", "https")
    .default("https://api.anthropic.com")
    .describe(
      "Anthropic, or a server compatible with it, with or without the version in the path; may be private and without TLS.",
    ),
  ANTHROPIC_MODEL: text("the name of a model")
    .default("claude-sonnet-5-5")
    .describe(
      "Model of agents whose provider is anthropic. Those of the newest generation take no temperature, which the agents' warnings say; claude-sonnet-4-6 does.",
    ),
  AGENT_TIMEOUT_MS: wholeNumber(1_000, 600_000)
    .default(120_000)
    .describe(
      "How long one exchange with an AI provider may take; a question to an agent makes at most three. A direct question has four minutes in all.",
    ),
  AGENT_TOKENS_PER_DAY: wholeNumber(0, 999_999_999_999)
    .default(2_000_000)
    .describe("Tokens that a company's agents may use a UTC day; 0 is no limit."),
  AGENT_EXECUTION_RETENTION_DAYS: wholeNumber(0, 36_500)
    .default(0)
    .describe("Days for which ended executions of agents are kept, at least; 0 is for ever."),
  SMTP_URL: url("smtp", "smtps")
    .optional()
    .describe(
      "Mail server for e-mail steps without a connection: smtp:// (STARTTLS where it is offered; with a password it has to be) or smtps://, user and password percent-encoded.",
    ),
  EMAIL_FROM: text("an e-mail address")
    .optional()
    .describe("Sender of e-mail steps without a connection."),
  EMAIL_FROM_DOMAINS: mailDomains()
    .optional()
    .describe(
      "Domains besides that of EMAIL_FROM whose addresses e-mail steps without a connection may name as sender; their subdomains are not meant.",
    ),
  EMAIL_PER_DAY: wholeNumber(0, 1_000_000_000)
    .default(1_000)
    .describe("Recipients of e-mail without a connection, a company and UTC day; 0 is no limit."),

  LOG_LEVEL: oneOf(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("Least level of log lines."),
  METRICS_HOST: text("an address of this machine, or its name")
    .default("127.0.0.1")
    .describe(
      "Address on which /metrics is served, and /livez and /readyz of separate services, without credentials; 0.0.0.0 is all of them.",
    ),
  METRICS_PORT: wholeNumber(0, 65_535)
    .default(9464)
    .describe(
      "Port of /metrics for Prometheus, and of /livez and /readyz of separate services; 0 is none.",
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url("http", "https")
    .optional()
    .describe(
      "OpenTelemetry collector to send traces to, over OTLP/HTTP: spans go to /v1/traces below it. Without it none are made.",
    ),
  OTEL_EXPORTER_OTLP_HEADERS: headerPairs()
    .optional()
    .describe("Headers for the collector, such as a credential: name=value, separated by commas."),
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS)
    .default("traceidratio")
    .describe(
      "Which traces are recorded: a share by chance (traceidratio), all or none. With parentbased_ a caller's own flag decides where it sends one: only where all callers are trusted.",
    ),
  OTEL_TRACES_SAMPLER_ARG: share()
    .default(0.01)
    .describe("Share of traces that are recorded, 0 to 1, for the samplers with a ratio."),
} as const satisfies Readonly<Record<string, z.ZodType>>;

/** The name of a setting. */
export type SettingName = keyof typeof SETTINGS;

function rateLimit(perMinute: number) {
  return wholeNumber(0, 1_000_000_000).default(perMinute);
}
