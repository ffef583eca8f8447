import type { EventBus } from "@workflow/events";
import type { HttpTls, IssuerKeys, RpcTls, TokenSigner } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";

/** The secrets with which senders sign. An absent one is not configured. */
export interface InboundSecrets {
  stripe?: string | undefined;
  resend?: string | undefined;
  airwallex?: string | undefined;
  hubspot?: string | undefined;
  finance?: string | undefined;
  nango?: string | undefined;
}

/** The dependencies and the settings of the service. */
export interface WebhooksServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** Loads the keys of SECRETS_KEK; the first one encrypts. It is called again when a key is missing. */
  loadKeks: () => Promise<readonly Buffer[]>;
  /** The bus of the events of runs, and of the service's own events. */
  bus: EventBus;
  /** The address for gRPC: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** The address for inbound webhooks that the gateway forwards: `host:port`, port 0 for a free one. */
  httpAddress: string;
  /**
   * The time for which inbound webhooks are accepted after the service was asked to stop, in
   * milliseconds; 0 by default.
   */
  stopDelayMs?: number | undefined;
  /** TLS for inbound webhooks from the gateway; plain text by default. */
  httpTls?: HttpTls | undefined;
  runsGrpcAddress: string;
  integrationsGrpcAddress: string;
  /** Signs the identity in calls of other services. */
  tokenSigner: TokenSigner;
  /** The issuers whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  grpcTls?: RpcTls | undefined;
  inboundSecrets?: InboundSecrets | undefined;
  /** Whether inbound webhooks that cannot be verified are refused, except on the custom route; false by default. */
  requireSignature?: boolean | undefined;
  /** The pause after each failed attempt of a delivery, in milliseconds; those of D46 by default. */
  retryDelaysMs?: readonly number[] | undefined;
  /** The time for which events and deliveries are kept; 30 days by default. */
  retentionDays?: number | undefined;
  /** The pause between two passes that remove old rows, in milliseconds; ten minutes by default. */
  retentionIntervalMs?: number | undefined;
  /**
   * The interval at which ended runs are compared with the received events, in milliseconds; every
   * minute by default.
   */
  compareIntervalMs?: number | undefined;
  /** The limit of a company's waiting deliveries, beyond which no more are made; 1,000,000 by default. */
  pendingDeliveriesMax?: number | undefined;
  /** The public address of the gateway, without a trailing slash. Links to runs begin with it. */
  publicUrl?: string | undefined;
  /** Lets tenants name http and private or loopback hosts; for development and tests. */
  outboundAllowPrivate?: boolean | undefined;
  /** Name servers for hosts that tenants name; those of the machine by default. */
  outboundDnsServers?: readonly string[] | undefined;
  /** NAT64 prefixes of the network besides the known ones. */
  outboundNat64Prefixes?: readonly string[] | undefined;
  logger: Logger;
  /** The registry of the service's metrics; there are no metrics by default. */
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of recorded traces; there are none by default. */
  tracer?: Tracer | undefined;
}

/** A service that accepts calls. */
export interface RunningService {
  /** The address for gRPC that it listens on. */
  grpcAddress: string;
  /** The address for inbound webhooks that it listens on. */
  httpAddress: string;
  /** Finishes running calls and releases everything. */
  stop(): Promise<void>;
}
