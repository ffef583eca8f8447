import { SAMPLERS } from "@workflow/tracing";
import type { z } from "zod";
import {
  base64Keys,
  flag,
  grpcAddress,
  headerPairs,
  hostAndPort,
  issuerKeys,
  nameServers,
  nat64Prefixes,
  oneOf,
  share,
  signingKey,
  text,
  url,
  wholeNumber,
} from "./setting-types.ts";

/** The settings of every process, whatever its service (D53). `.default()` values are final. */
export const PROCESS_SETTINGS = {
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
  GRPC_ALLOW_PLAINTEXT: flag()
    .default(false)
    .describe(
      "Lets gRPC without TLS listen on and call addresses beyond this machine, where the network itself encrypts.",
    ),
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

/**
 * The settings that several services read, and those of `npm start` itself. Each service declares its
 * own settings in its `src/settings.ts`. `.default()` values are final; an optional setting without one
 * is off, or the service chooses its value. `withoutEffect` marks a setting that no code reads yet and
 * completes "this version …". A test demands that the mark goes as soon as code reads the setting.
 */
export const SHARED_SETTINGS = {
  ...PROCESS_SETTINGS,
  PUBLIC_URL: url("http", "https")
    .refine((value) => new URL(value).pathname === "/", "must have no path")
    .optional()
    .describe(
      "Where people and providers reach the gateway, as https://workflows.example.com; if unset, what the Host header of a request names.",
    ),
  DATA_DIR: text("the path of a folder")
    .default(".data")
    .describe("Folder of the embedded Postgres and of the keys that are made on first start."),
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
  GRPC_REFLECTION: flag()
    .optional()
    .describe(
      "Whether services describe themselves to gRPC clients without a token; if unset, those do that listen on a loopback address or a unix socket.",
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
  STOP_DELAY_MS: wholeNumber(0, 4_000)
    .default(2_000)
    .describe(
      "How long a gateway or webhooks process that was asked to stop goes on taking connections, while /readyz says that it stops: the time in which what is in front of it sends callers elsewhere.",
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
  SECRETS_KEK: base64Keys(32)
    .optional()
    .describe(
      "Encrypts stored secrets; several separated by commas: the first encrypts, all decrypt. npm start makes its own, else it is required.",
    ),
  OPENAI_MODEL: text("the name of a model")
    .default("gpt-6.1-terra")
    .describe("Model of agents whose provider is openai."),
  ANTHROPIC_MODEL: text("the name of a model")
    .default("claude-sonnet-5-5")
    .describe(
      "Model of agents whose provider is anthropic. Those of the newest generation take no temperature, which the agents' warnings say; claude-sonnet-4-6 does.",
    ),
} as const satisfies Readonly<Record<string, z.ZodType>>;
