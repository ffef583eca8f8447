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

/** The time that a call reserves for its own answer when it makes further calls (an idea of boulder). */
const SUB_CALL_MARGIN_MS = 50;

/** The deadline of a call that serves another one: shortly before the other's deadline. */
export function subDeadline(context: RpcContext): Date {
  return new Date(context.deadline.getTime() - SUB_CALL_MARGIN_MS);
}

/** Passes the identity, client, ids, deadline and cancellation of a served call on to a further call. */
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

/** The options of a client. */
export interface RpcClientOptions {
  /**
   * `host:port`, IPv4 addresses with ports of several replicas separated by commas, or `unix:/path`. The
   * addresses of a name are replicas, too.
   */
  address: string;
  /** The protection of connections. Without it plain text is used, to addresses of this machine only. */
  tls?: RpcTls | undefined;
  /** Signs the tokens of calls with an identity. */
  minter?: TokenMinter | undefined;
  /** Makes the spans of calls whose trace is recorded. */
  tracer?: Tracer | undefined;
  /** The time limit of unary calls without their own (default 10 s). */
  defaultTimeoutMs?: number;
  /** The time limit of streams without their own (default 1 h). */
  defaultStreamTimeoutMs?: number;
  /** The largest message in either direction (default 64 MiB). */
  maxMessageBytes?: number;
  /**
   * The interval at which the replicas behind a name are looked up, in milliseconds (default 30 s).
   */
  renewMs?: number;
}
