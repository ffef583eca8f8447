import type { ClientFacts } from "./client-facts.ts";
import type { RpcContext } from "./context.ts";
import type { Identity } from "./identity.ts";
import type { Tracer } from "@workflow/tracing";
import type { RpcTls } from "./tls.ts";
import type { TokenMinter } from "./token-signer.ts";

/** What is sent along with a single call. */
export interface RpcCallOptions {
  /** On whose behalf; needs the client's minter. */
  identity?: Identity | undefined;
  /** A ready token, instead of an identity. */
  token?: string | undefined;
  requestId?: string | undefined;
  traceparent?: string | undefined;
  /** Who is in front of the system, for the audit log of what the call changes. */
  client?: ClientFacts | undefined;
  /** How long to wait; the client's default when neither this nor a deadline is given. */
  timeoutMs?: number | undefined;
  /** Until when to wait; with `timeoutMs` the earlier of both counts. */
  deadline?: Date | undefined;
  /** Cancels the call; it then rejects with UNAVAILABLE, the signal's reason being the cause. */
  signal?: AbortSignal | undefined;
}

/** What is kept back of a call's time for its own answer when it calls further (boulder's idea). */
const SUB_CALL_MARGIN_MS = 50;

/** The deadline for a call made while serving another: somewhat before that one's own. */
export function subDeadline(context: RpcContext): Date {
  return new Date(context.deadline.getTime() - SUB_CALL_MARGIN_MS);
}

/** Hands a call's identity, client, ids, deadline and cancellation on to a call made while serving it. */
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
  /** Without it, plain text to addresses of this machine only. */
  tls?: RpcTls | undefined;
  /** Signs the tokens of calls that name an identity. */
  minter?: TokenMinter | undefined;
  /** Makes the spans of calls whose trace is recorded. */
  tracer?: Tracer | undefined;
  /** For unary calls that give no time of their own (default 10 s). */
  defaultTimeoutMs?: number;
  /** For streams that give no time of their own (default 1 h). */
  defaultStreamTimeoutMs?: number;
  /** The largest message in either direction (default 64 MiB). */
  maxMessageBytes?: number;
  /** How often the replicas behind a name are looked up, in milliseconds (default 30 s). */
  renewMs?: number;
}
