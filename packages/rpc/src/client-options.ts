import type { ClientFacts } from "./client-facts.ts";
import type { RpcContext } from "./context.ts";
import type { Identity } from "./identity.ts";
import type { Tracer } from "@workflow/tracing";
import type { RpcTls } from "./tls.ts";
import type { TokenMinter } from "./token-signer.ts";

/** The options of a single call. */
export interface RpcCallOptions {
  /** The identity that the call acts for; needs the client's minter. */
  identity?: Identity | undefined;
  /** A ready token, instead of an identity. */
  token?: string | undefined;
  requestId?: string | undefined;
  traceparent?: string | undefined;
  /** The outside client, for the audit log of the call's changes. */
  client?: ClientFacts | undefined;
  /** The time limit; the client's default when neither this nor a deadline is given. */
  timeoutMs?: number | undefined;
  /** The deadline; with `timeoutMs` the earlier of both counts. */
  deadline?: Date | undefined;
  /** Cancels the call, which then rejects with UNAVAILABLE and the signal's reason as the cause. */
  signal?: AbortSignal | undefined;
}

/**
 * The time of a call that is reserved for its own answer when it makes further calls (an idea of
 * boulder).
 */
const SUB_CALL_MARGIN_MS = 50;

/** The deadline for a call made while serving another one: somewhat before that one's own. */
export function subDeadline(context: RpcContext): Date {
  return new Date(context.deadline.getTime() - SUB_CALL_MARGIN_MS);
}

/**
 * Passes a call's identity, client, ids, deadline and cancellation on to a call made while serving
 * it.
 */
export function subCallOptions(context: RpcContext): RpcCallOptions {
  return {
    identity: context.identity,
    requestId: context.requestId,
    traceparent: context.traceparent,
    client: context.client,
    deadline: subDeadline(context),
    signal: context.signal,
  };
}

/** How a client reaches its service. */
export interface RpcClientOptions {
  /**
   * `host:port` (a name with several addresses is used in turn), IPv4 addresses with ports of several
   * replicas separated by commas, or `unix:/path`.
   */
  address: string;
  /** TLS; a client without it speaks plain text, to addresses of this machine only. */
  tls?: RpcTls | undefined;
  /** Signs the tokens of calls with an identity. */
  minter?: TokenMinter | undefined;
  /** Makes the spans of calls whose trace is recorded. */
  tracer?: Tracer | undefined;
  /** The time limit of unary calls that name none (default 10 s). */
  defaultTimeoutMs?: number;
  /** The time limit of streams that name none (default 1 h). */
  defaultStreamTimeoutMs?: number;
  /** The largest message in either direction (default 64 MiB). */
  maxMessageBytes?: number;
  /**
   * The interval at which the replicas behind a name are looked up, in milliseconds (default 30 s).
   */
  renewMs?: number;
}
