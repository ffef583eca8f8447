import type { RpcContext } from "./context.ts";

/**
 * One method of a service definition, as ts-proto generates it (`outputServices=grpc-js`). Written
 * with method signatures, so that definitions of any message types are assignable.
 */
export interface RpcMethodDefinition {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  requestSerialize(this: void, value: unknown): Buffer;
  requestDeserialize(this: void, bytes: Buffer): unknown;
  responseSerialize(this: void, value: unknown): Buffer;
  responseDeserialize(this: void, bytes: Buffer): unknown;
}

/** A service definition as generated, for example `RunsServiceService`. */
export type RpcDefinition = Readonly<Record<string, RpcMethodDefinition>>;

/** The request message of a method. */
export type RequestOf<M extends RpcMethodDefinition> = ReturnType<M["requestDeserialize"]>;

/** The response message of a method. */
export type ResponseOf<M extends RpcMethodDefinition> = ReturnType<M["responseDeserialize"]>;

/** The scopes of which a caller needs one: a single scope, or a list of alternatives. */
export type RequiredScopes = string | readonly [string, ...string[]];

/** A method that answers one request with one response. */
export interface UnaryMethod<Request, Response> {
  readonly kind: "unary";
  readonly scopes: RequiredScopes;
  readonly handler: (request: Request, context: RpcContext) => Promise<Response>;
}

/** A method that answers one request with a sequence of responses. */
export interface ServerStreamMethod<Request, Response> {
  readonly kind: "server-stream";
  readonly scopes: RequiredScopes;
  /** Whether it may finish when the server closes, like a unary call; otherwise it ends at once. */
  readonly endsByItself?: boolean;
  readonly handler: (request: Request, context: RpcContext) => AsyncIterable<Response>;
}

/** A method that answers a sequence of requests with one response. */
export interface ClientStreamMethod<Request, Response> {
  readonly kind: "client-stream";
  readonly scopes: RequiredScopes;
  readonly handler: (
    requests: AsyncIterable<Request, void, undefined>,
    context: RpcContext,
  ) => Promise<Response>;
}

/** A method whose message types are no longer known. */
export type AnyMethod =
  | UnaryMethod<unknown, unknown>
  | ServerStreamMethod<unknown, unknown>
  | ClientStreamMethod<unknown, unknown>;

/** The declarations that each method of a definition needs. */
export type Implementation<D extends RpcDefinition> = {
  readonly [Name in keyof D]: MethodImplementation<D[Name]>;
};

type MethodImplementation<M extends RpcMethodDefinition> = M["requestStream"] extends false
  ? M["responseStream"] extends false
    ? UnaryMethod<RequestOf<M>, ResponseOf<M>>
    : ServerStreamMethod<RequestOf<M>, ResponseOf<M>>
  : M["responseStream"] extends false
    ? ClientStreamMethod<RequestOf<M>, ResponseOf<M>>
    : never;

/**
 * Declares a unary method. A caller whose token holds none of `scopes` gets FORBIDDEN before its
 * message is read. Errors of the handler reach the client as AppError.
 */
export function rpc<Request, Response>(
  method: Omit<UnaryMethod<Request, Response>, "kind">,
): UnaryMethod<Request, Response> {
  return { kind: "unary", ...method };
}

/**
 * Declares a server-streaming method. Items are taken from the iterable only as fast as the client
 * reads. When the call ends early, `context.signal` is aborted and the iterable is closed; a
 * handler that waits must therefore watch the signal.
 */
export function rpcServerStream<Request, Response>(
  method: Omit<ServerStreamMethod<Request, Response>, "kind">,
): ServerStreamMethod<Request, Response> {
  return { kind: "server-stream", ...method };
}

/**
 * Declares a client-streaming method. A request is read only when the handler asks for the next one. The
 * handler may answer or throw before the requests have ended; the rest is discarded. When the call is
 * cancelled the iterable throws. The iterable may also just end, because Node ends a stream before it resets
 * it; requests that have a meaning only as a whole therefore need a last one that says so.
 */
export function rpcClientStream<Request, Response>(
  method: Omit<ClientStreamMethod<Request, Response>, "kind">,
): ClientStreamMethod<Request, Response> {
  return { kind: "client-stream", ...method };
}
