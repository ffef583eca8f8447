import { getDefaultHighWaterMark, setDefaultHighWaterMark } from "node:stream";
import { Client, Metadata } from "@grpc/grpc-js";
import type { ClientReadableStream } from "@grpc/grpc-js";
import { AppError } from "@workflow/errors";
import { channelTarget } from "./address.ts";
import { setAffinityKey } from "./affinity.ts";
import type { AffineMethods, KeyOf, RpcAffinity } from "./affinity.ts";
import { channelOptions } from "./channel-options.ts";
import {
  callDeadline,
  callMetadata,
  failure,
  isServiceError,
  streamDeadline,
  throwIfAborted,
} from "./client-call.ts";
import type { RpcCallOptions, RpcClientOptions } from "./client-options.ts";
import { releaseClosedStreams } from "./closed-streams.ts";
import { limitConnecting } from "./connect-limit.ts";
import type { RequestOf, ResponseOf, RpcDefinition, RpcMethodDefinition } from "./definition.ts";
import { checkHealth } from "./health-check.ts";
import type { ServerHealth } from "./health-check.ts";
import type { Identity } from "./identity.ts";
import { Replacement } from "./replacement.ts";
import { sendRequests } from "./send-requests.ts";
import type { Requests } from "./send-requests.ts";
import { widenSessions } from "./session-windows.ts";
import { channelCredentials } from "./tls.ts";
import { tracedCall, tracedStream } from "./traced-calls.ts";

type ClientMethod<M extends RpcMethodDefinition> = M["requestStream"] extends false
  ? M["responseStream"] extends false
    ? (request: RequestOf<M>, options?: RpcCallOptions) => Promise<ResponseOf<M>>
    : (request: RequestOf<M>, options?: RpcCallOptions) => AsyncIterable<ResponseOf<M>>
  : M["responseStream"] extends false
    ? (requests: Requests<RequestOf<M>>, options?: RpcCallOptions) => Promise<ResponseOf<M>>
    : never;

/**
 * A client has one method for each method of the definition. A unary call is a promise. A server
 * stream is an iterable: iteration starts the call, and leaving the iteration cancels it. A client
 * stream is a promise. The client takes requests from the iterable as fast as the server reads,
 * until the iterable ends or the server has answered. An error of the iterable cancels the call and
 * rejects it. Other failures are AppErrors.
 */
export type RpcClient<D extends RpcDefinition> = {
  readonly [Name in keyof D]: ClientMethod<D[Name]>;
} & ClientLife;

interface ClientLife {
  /** Resolves when a connection is up; rejects with UNAVAILABLE when none is up in time. */
  waitForReady(timeoutMs: number): Promise<void>;
  /** Whether the server's health service answers SERVING in time; never rejects. */
  isServing(timeoutMs: number): Promise<boolean>;
  /**
   * Asks the server's health service with a token, which needs the client's minter. A service that
   * takes no notice of tokens answers as to anybody. Rejects when the token cannot be signed.
   */
  health(timeoutMs: number, identity: Identity): Promise<ServerHealth>;
  /** Closes the channel; running calls end with UNAVAILABLE. */
  close(): void;
}

/**
 * Creates a client from a service definition (`RunsServiceService`) or a generated client class
 * (`RunsServiceClient`). Every call has a deadline. A call may have effects, so a call that a server
 * application has seen is repeated only where `affinity` names its method. While the server is away
 * calls fail at once with UNAVAILABLE; in the first seconds they wait for its replacement.
 *
 * @throws Error when the address is beyond this machine and plain text is not allowed
 */
export function createRpcClient<D extends RpcDefinition>(
  target: { readonly service: D; readonly serviceName: string },
  options: RpcClientOptions & { affinity?: RpcAffinity<D> },
): RpcClient<D>;
export function createRpcClient<D extends RpcDefinition>(
  target: D,
  options: RpcClientOptions & { affinity?: RpcAffinity<D> },
): RpcClient<D>;
export function createRpcClient(
  target: RpcDefinition | { readonly service: RpcDefinition; readonly serviceName: string },
  options: RpcClientOptions & { affinity?: Readonly<Record<string, KeyOf | undefined>> },
): unknown {
  widenSessions();
  releaseClosedStreams();
  limitConnecting();
  const definition = isClientClass(target) ? target.service : target;
  const { address, tls, affinity = {} } = options;
  const affine = affineMethods(definition, affinity);
  const credentials = channelCredentials(address, tls);
  const client = new Client(channelTarget(address), credentials, channelOptions(options, affine));
  const channel = { client, replacement: new Replacement(client), affine, defaults: options };
  const methods: Record<string, unknown> = {};
  for (const [name, method] of Object.entries(definition)) {
    methods[name] = clientMethod(channel, method);
  }
  const life: ClientLife = {
    waitForReady: (timeoutMs) => waitForReady(client, timeoutMs),
    isServing: async (timeoutMs) =>
      (await checkHealth(client, timeoutMs, new Metadata())) === "serving",
    health: async (timeoutMs, identity) =>
      checkHealth(client, timeoutMs, await callMetadata(options, { identity })),
    close: () => client.close(),
  };
  return { ...methods, ...life };
}

/** The connection and the options of calls. */
interface Channel {
  client: Client;
  replacement: Replacement;
  affine: AffineMethods;
  defaults: RpcClientOptions;
}

function affineMethods(
  definition: RpcDefinition,
  affinity: Readonly<Record<string, KeyOf | undefined>>,
): AffineMethods {
  const methods = new Map<string, KeyOf>();
  for (const [name, { path }] of Object.entries(definition)) {
    const keyOf = affinity[name];
    if (keyOf !== undefined) methods.set(path, keyOf);
  }
  return methods;
}

function clientMethod(channel: Channel, method: RpcMethodDefinition): unknown {
  const { requestStream, responseStream } = method;
  const { defaults } = channel;
  if (requestStream) {
    if (responseStream) return undefined;
    return (requests: Requests<unknown>, given?: RpcCallOptions) =>
      tracedCall(defaults.tracer, method, given, (options) =>
        callClientStream(channel, method, requests, options),
      );
  }
  if (responseStream) {
    return (request: unknown, given?: RpcCallOptions) =>
      tracedStream(defaults.tracer, method, given, (options) =>
        callStream(channel, method, request, options),
      );
  }
  return (request: unknown, given?: RpcCallOptions) =>
    tracedCall(defaults.tracer, method, given, (options) =>
      callUnary(channel, method, request, options),
    );
}

async function callUnary(
  { client, replacement, affine, defaults }: Channel,
  method: RpcMethodDefinition,
  request: unknown,
  options: RpcCallOptions = {},
): Promise<unknown> {
  const metadata = await callMetadata(defaults, options);
  const keyOf = affine.get(method.path);
  if (keyOf !== undefined) setAffinityKey(metadata, keyOf(request));
  const deadline = callDeadline(defaults, options);
  const { signal } = options;
  const replaced = replacement.wait(deadline, signal);
  if (replaced !== undefined) await replaced;
  throwIfAborted(signal);

  return new Promise((resolve, reject) => {
    const call = withoutStack(() =>
      client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        { deadline },
        (error, response) => {
          signal?.removeEventListener("abort", cancel);
          if (error === null) resolve(response);
          else reject(failure(error, method, signal));
        },
      ),
    );
    const cancel = (): void => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
  });
}

/**
 * grpc-js records a stack trace for each call in case that it fails. The trace takes some µs and
 * ends in this file, and the error names the method anyway.
 */
function withoutStack<Call>(makeCall: () => Call): Call {
  const usual = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return makeCall();
  } finally {
    Error.stackTraceLimit = usual;
  }
}

async function* callStream(
  { client, replacement, defaults }: Channel,
  method: RpcMethodDefinition,
  request: unknown,
  options: RpcCallOptions = {},
): AsyncGenerator<unknown, void, undefined> {
  const metadata = await callMetadata(defaults, options);
  const deadline = streamDeadline(defaults, options);
  const { signal } = options;
  const replaced = replacement.wait(deadline, signal);
  if (replaced !== undefined) await replaced;
  throwIfAborted(signal);

  const call = withoutReadAhead((): ClientReadableStream<unknown> =>
    client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadata,
      { deadline },
    ),
  );
  // Iteration reports errors; once it was left, nobody takes the status of our own cancellation.
  call.on("error", () => {});
  const cancel = (): void => call.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    yield* call;
  } catch (error) {
    throw isServiceError(error) ? failure(error, method, signal) : error;
  } finally {
    signal?.removeEventListener("abort", cancel);
    call.cancel();
  }
}

/**
 * Makes a stream read only one message ahead of its reader. The default of grpc-js is 16 messages
 * of any size, and no option changes it. A slow reader's process held a whole large answer in
 * memory, and the sender took the answer for read.
 */
function withoutReadAhead<Stream>(makeStream: () => Stream): Stream {
  const usual = getDefaultHighWaterMark(true);
  setDefaultHighWaterMark(true, 1);
  try {
    return makeStream();
  } finally {
    setDefaultHighWaterMark(true, usual);
  }
}

async function callClientStream(
  { client, replacement, defaults }: Channel,
  method: RpcMethodDefinition,
  requests: Requests<unknown>,
  options: RpcCallOptions = {},
): Promise<unknown> {
  const metadata = await callMetadata(defaults, options);
  const deadline = streamDeadline(defaults, options);
  const { signal } = options;
  const replaced = replacement.wait(deadline, signal);
  if (replaced !== undefined) await replaced;
  throwIfAborted(signal);

  return new Promise((resolve, reject) => {
    const call = client.makeClientStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      metadata,
      { deadline },
      (error, response) => {
        signal?.removeEventListener("abort", cancel);
        stopSending();
        if (error === null) resolve(response);
        else reject(failure(error, method, signal));
      },
    );
    const cancel = (): void => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    const stopSending = sendRequests(call, requests, (error) => {
      reject(error);
      call.cancel();
    });
  });
}

function waitForReady(client: Client, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    client.waitForReady(Date.now() + timeoutMs, (error) => {
      if (error === undefined) resolve();
      else {
        const message = "The service is not available at the moment.";
        reject(new AppError("UNAVAILABLE", message, { cause: error }));
      }
    });
  });
}

function isClientClass(
  target: RpcDefinition | { readonly service: RpcDefinition; readonly serviceName: string },
): target is { readonly service: RpcDefinition; readonly serviceName: string } {
  return typeof target === "function";
}
