import type { EventBus } from "@workflow/events";
import type { HttpTls, IssuerKeys, RpcTls, TokenSigner } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";

/** With what senders prove who they are; what is absent is not configured. */
export interface InboundSecrets {
  stripe?: string | undefined;
  resend?: string | undefined;
  airwallex?: string | undefined;
  hubspot?: string | undefined;
  finance?: string | undefined;
  nango?: string | undefined;
}

/** What the service needs from its surroundings. */
export interface WebhooksServiceOptions {
  databaseUrl: string;
  databasePoolSize: number;
  /** The keys of SECRETS_KEK, the first one encrypts; asked again when one is missing. */
  loadKeks: () => Promise<readonly Buffer[]>;
  /** Where the events of runs come from, and its own go to. */
  bus: EventBus;
  /** Where to listen for gRPC: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** Where to listen for what the gateway hands on of inbound webhooks: `host:port`, port 0 for a free one. */
  httpAddress: string;
  /** How long inbound webhooks are taken after the service was asked to stop, in milliseconds; 0 by default. */
  stopDelayMs?: number | undefined;
  /** Without it the gateway speaks plain text there. */
  httpTls?: HttpTls | undefined;
  runsGrpcAddress: string;
  integrationsGrpcAddress: string;
  /** Signs the identity that goes along with each call of another service. */
  tokenSigner: TokenSigner;
  /** Whose tokens are accepted. */
  tokenPublicKeys: IssuerKeys;
  /** Whether reflection is served; by default only on loopback addresses and unix sockets. */
  grpcReflection?: boolean | undefined;
  grpcTls?: RpcTls | undefined;
  inboundSecrets?: InboundSecrets | undefined;
  /** Refuses inbound webhooks that cannot be verified, those of the custom route excepted; false by default. */
  requireSignature?: boolean | undefined;
  /** Waiting time after each failed attempt of a delivery, in milliseconds; those of D46 by default. */
  retryDelaysMs?: readonly number[] | undefined;
  /** How long events and deliveries are kept; 30 days by default. */
  retentionDays?: number | undefined;
  /** The pause between two looks for what is over; ten minutes by default. */
  retentionIntervalMs?: number | undefined;
  /** How often ends of runs are compared with the events that have come; every minute by default. */
  compareIntervalMs?: number | undefined;
  /** Deliveries of one company that may wait, no more are made beyond; 1,000,000 by default. */
  pendingDeliveriesMax?: number | undefined;
  /** Where people reach the gateway, without a slash at the end: what links to runs begin with. */
  publicUrl?: string | undefined;
  /** Lets tenants name http and private or loopback hosts; for development and tests. */
  outboundAllowPrivate?: boolean | undefined;
  /** Name servers for hosts that tenants name; those of the machine by default. */
  outboundDnsServers?: readonly string[] | undefined;
  /** NAT64 prefixes of the network besides the known ones. */
  outboundNat64Prefixes?: readonly string[] | undefined;
  logger: Logger;
  /** Where the service's metrics are registered; without one none are taken. */
  metricsRegistry?: Registry | undefined;
  /** Makes the spans of traces that are recorded; without one there are none. */
  tracer?: Tracer | undefined;
}

/** A service that accepts calls. */
export interface RunningService {
  /** The address that it really listens on for gRPC. */
  grpcAddress: string;
  /** The address that it really listens on for inbound webhooks. */
  httpAddress: string;
  /** Finishes running calls and gives everything back. */
  stop(): Promise<void>;
}
