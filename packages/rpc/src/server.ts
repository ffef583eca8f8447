import { Server } from "@grpc/grpc-js";
import type {
  handleClientStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  Metadata,
  ServerInterceptingCallInterface,
} from "@grpc/grpc-js";
import { AppError, toAppError } from "@workflow/errors";
import type { Tracer } from "@workflow/tracing";
import type { Logger } from "pino";
import { boundAddress, isLocalAddress, prepareAddress } from "./address.ts";
import type { BoundAddress } from "./address.ts";
import { releaseClosedStreams } from "./closed-streams.ts";
import type { CallContext } from "./context.ts";
import type {
  AnyMethod,
  Implementation,
  RpcDefinition,
  RpcMethodDefinition,
} from "./definition.ts";
import { toErrorStatus } from "./error-status.ts";
import { createGuard } from "./guard.ts";
import type { GuardedMethod } from "./guard.ts";
import { addHealth } from "./health.ts";
import type { Health } from "./health.ts";
import { InFlight } from "./in-flight.ts";
import { MESSAGE_BYTES_MAX } from "./message-size.ts";
import { addReflection } from "./reflection.ts";
import { createRequestReport } from "./request-log.ts";
import type { RequestOutcome } from "./request-log.ts";
import { decoder, encoder, serveClientStream, serveStream, serveUnary } from "./serve.ts";
import type { DecodedRequest, ServeHooks } from "./serve.ts";
import { widenSessions } from "./session-windows.ts";
import { serverCredentials } from "./tls.ts";
import type { RpcTls } from "./tls.ts";
import type { TokenVerifier } from "./token-verifier.ts";

export interface RpcServerOptions {
  logger: Logger;
  verifier: TokenVerifier;
  /** Converts errors of handlers to AppErrors, for example database errors. */
  toAppError?: (error: unknown) => AppError;
  /** The protection of connections. Without it plain text is served, on addresses of this machine only. */
  tls?: RpcTls | undefined;
  /** The largest message in either direction (default 64 MiB). */
  maxMessageBytes?: number;
  /** The time limit of unary calls without a deadline (default 30 s). */
  defaultDeadlineMs?: number;
  /** The time limit of streams without a deadline (default 1 h). */
  defaultStreamDeadlineMs?: number;
  /** The root folder of `.proto` imports; reflection needs it. */
  protoRoot?: string;
  /**
   * Whether to serve reflection, which needs no token. By default reflection is served where only this
   * machine can ask: on a loopback address or a unix socket.
   */
  reflection?: boolean | undefined;
  /** Makes the spans of calls whose trace is recorded. */
  tracer?: Tracer | undefined;
  /** Called for every finished request, for metrics. */
  onRequest?: (outcome: RequestOutcome) => void;
}

/** A gRPC server. Every method needs a token, except health and reflection. */
export interface RpcServer {
  /** Adds a service; before `listen` only. */
  add<D extends RpcDefinition>(definition: D, implementation: Implementation<D>): void;
  /**
   * Binds to `host:port` (port 0 picks a free one) or `unix:/path` and accepts calls; health still
   * answers NOT_SERVING. Rejects when the address is malformed, taken, or beyond this machine and
   * plain text is not allowed.
   */
  listen(address: string): Promise<BoundAddress>;
  /** Sets the answer of the health service. */
  setServing(isServing: boolean): void;
  /**
   * Stops the server. Health turns to NOT_SERVING, new calls are refused, open streams end with UNAVAILABLE,
   * and running calls finish. A client stream is running once all its requests were read, and a server stream
   * when it declares that it ends by itself. After `graceMs` (default 10 s) the remaining calls are cut off,
   * as are connections without a call. May be called more than once.
   */
  close(graceMs?: number): Promise<void>;
}

/** The names of the kinds of methods in grpc-js. */
const HANDLER_TYPE = {
  unary: "unary",
  "server-stream": "serverStream",
  "client-stream": "clientStream",
} as const satisfies Record<AnyMethod["kind"], string>;
/** The time for peers to accept the end of calls that were cut off. */
const ENDING_MS = 250;

/** Creates a server; see RpcServer for its life. */
export function createRpcServer(options: RpcServerOptions): RpcServer {
  return new GrpcServer(options);
}

class GrpcServer implements RpcServer {
  readonly #options: RpcServerOptions;
  readonly #maxMessageBytes: number;
  readonly #server: Server;
  readonly #methods = new Map<string, GuardedMethod>();
  readonly #services = new Set<string>();
  readonly #openCalls = new Set<ServerInterceptingCallInterface>();
  readonly #inFlight: InFlight;
  readonly #hooks: ServeHooks;
  #health: Health | undefined;
  #bound: BoundAddress | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: RpcServerOptions) {
    widenSessions();
    releaseClosedStreams();
    this.#options = options;
    this.#maxMessageBytes = options.maxMessageBytes ?? MESSAGE_BYTES_MAX;
    const report = createRequestReport(options.logger, options.onRequest);
    const inFlight = new InFlight(report);
    this.#inFlight = inFlight;
    this.#hooks = {
      toAppError: options.toAppError ?? toAppError,
      onReceived: (context) => inFlight.started(context, "unary"),
      onHandled: (context, code, error) => inFlight.handled(context, code, error),
    };
    const guard = createGuard({
      methods: this.#methods,
      verifier: options.verifier,
      logger: options.logger,
      tracer: options.tracer,
      report,
      openCalls: this.#openCalls,
      onAdmitted: (metadata, context, call) => {
        setContext(metadata, context);
        inFlight.admitted(context, call);
      },
      onOver: (context) => inFlight.over(context),
    });
    this.#server = new Server({
      "grpc.max_receive_message_length": this.#maxMessageBytes,
      "grpc.max_send_message_length": this.#maxMessageBytes,
      "grpc.keepalive_time_ms": 30_000,
      "grpc.keepalive_timeout_ms": 10_000,
      "grpc.enable_channelz": 0,
      interceptors: [guard],
    });
  }

  add<D extends RpcDefinition>(definition: D, implementation: Implementation<D>): void {
    if (this.#health !== undefined) throw new Error("Services are added before listening.");
    // The mapped type ties each method to its own messages; from here on they are only passed on.
    const methods = new Map<string, AnyMethod>(Object.entries(implementation));
    for (const [name, methodDefinition] of Object.entries(definition)) {
      const method = methods.get(name);
      if (method === undefined) throw new Error(`${methodDefinition.path} is not implemented.`);
      this.#register(methodDefinition, method);
    }
  }

  async listen(address: string): Promise<BoundAddress> {
    if (this.#health !== undefined) throw new Error("The server listens already.");
    const services = [...this.#services];
    this.#health = addHealth(this.#server, services);
    const { protoRoot, tls, reflection = isLocalAddress(address) } = this.#options;
    if (protoRoot !== undefined && reflection) {
      await addReflection(this.#server, protoRoot, services);
    }
    await prepareAddress(address);
    const credentials = serverCredentials(address, tls);
    const port = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync(address, credentials, (error, boundPort) => {
        if (error === null) resolve(boundPort);
        else reject(new Error(`Cannot listen on ${address}: ${error.message}`, { cause: error }));
      });
    });
    this.#bound = boundAddress(address, port);
    return this.#bound;
  }

  setServing(isServing: boolean): void {
    this.#health?.setServing(isServing && this.#closed === undefined);
  }

  close(graceMs = 10_000): Promise<void> {
    this.#closed ??= this.#shutDown(graceMs);
    return this.#closed;
  }

  async #shutDown(graceMs: number): Promise<void> {
    const error = new AppError("UNAVAILABLE", "The service is shutting down.");
    this.#health?.setServing(false);
    // drain goes before tryShutdown, as it skips connections that are closing. The timer of drain is the last
    // resort against peers that do not read.
    if (this.#bound !== undefined) this.#server.drain(this.#bound.address, graceMs + ENDING_MS);
    const allClosed = new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    this.#inFlight.abortStreams(error);
    for (const call of this.#openCalls) call.sendStatus(toErrorStatus(error));
    // Connections that never spoke HTTP/2 are not awaited; only calls are.
    await Promise.race([allClosed, this.#inFlight.whenIdle(), delay(graceMs)]);
    this.#inFlight.endAll(error);
    await Promise.race([allClosed, delay(2 * ENDING_MS)]);
    this.#server.forceShutdown();
  }

  #register(definition: RpcMethodDefinition, method: AnyMethod): void {
    const { path } = definition;
    const [, service = "", name = ""] = path.split("/");
    const { defaultDeadlineMs = 30_000, defaultStreamDeadlineMs = 3_600_000 } = this.#options;
    const isUnary = method.kind === "unary";
    this.#services.add(service);
    this.#methods.set(path, {
      rpc: `${service}/${name}`,
      scopes: method.scopes,
      isStream: !isUnary,
      defaultDeadlineMs: isUnary ? defaultDeadlineMs : defaultStreamDeadlineMs,
    });
    const encode = encoder(definition, this.#maxMessageBytes);
    const isNew = this.#server.register(
      path,
      this.#callOf(method, encode),
      (bytes: Buffer) => bytes,
      decoder(definition),
      HANDLER_TYPE[method.kind],
    );
    if (!isNew) throw new Error(`${path} was added before.`);
  }

  #callOf(method: AnyMethod, encode: (value: unknown) => Buffer) {
    switch (method.kind) {
      case "unary":
        return this.#unaryCall(method, encode);
      case "server-stream":
        return this.#streamCall(method, encode);
      case "client-stream":
        return this.#clientStreamCall(method, encode);
    }
  }

  #unaryCall(
    method: Extract<AnyMethod, { kind: "unary" }>,
    serialize: (value: unknown) => Buffer,
  ): handleUnaryCall<DecodedRequest, Buffer> {
    return (call, respond) => {
      const context = this.#begin(call.metadata, "unary");
      const serving = { context, method, serialize, hooks: this.#hooks };
      serveUnary(call, respond, serving).catch(this.#onLost);
    };
  }

  #streamCall(
    method: Extract<AnyMethod, { kind: "server-stream" }>,
    serialize: (value: unknown) => Buffer,
  ): handleServerStreamingCall<DecodedRequest, Buffer> {
    return (call) => {
      const context = this.#begin(call.metadata, method.endsByItself === true ? "unary" : "stream");
      const serving = { context, method, serialize, hooks: this.#hooks };
      serveStream(call, serving).catch(this.#onLost);
    };
  }

  #clientStreamCall(
    method: Extract<AnyMethod, { kind: "client-stream" }>,
    serialize: (value: unknown) => Buffer,
  ): handleClientStreamingCall<DecodedRequest, Buffer> {
    return (call, respond) => {
      const context = this.#begin(call.metadata, "stream");
      const serving = { context, method, serialize, hooks: this.#hooks };
      serveClientStream(call, respond, serving).catch(this.#onLost);
    };
  }

  #begin(metadata: Metadata, kind: "unary" | "stream"): CallContext {
    const context = contextOf(metadata);
    // The guard admits no call without a context.
    if (context === undefined) throw new Error("The call was not admitted.");
    this.#inFlight.started(context, kind);
    return context;
  }

  /** grpc-js did not accept the answer, so the caller's deadline passes. */
  readonly #onLost = (error: unknown): void => {
    this.#options.logger.error({ err: error }, "an answer was lost");
  };
}

/** The key of a call's context in its metadata. A WeakMap of all calls would burden the garbage collector. */
const CONTEXT = Symbol("call context");

interface AdmittedMetadata extends Metadata {
  [CONTEXT]?: CallContext;
}

function setContext(metadata: AdmittedMetadata, context: CallContext): void {
  metadata[CONTEXT] = context;
}

function contextOf(metadata: AdmittedMetadata): CallContext | undefined {
  return metadata[CONTEXT];
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
