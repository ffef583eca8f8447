import { status as Code } from "@grpc/grpc-js";
import type {
  sendUnaryData,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
} from "@grpc/grpc-js";
import { AppError } from "@workflow/errors";
import type { CallContext } from "./context.ts";
import type {
  ClientStreamMethod,
  RpcMethodDefinition,
  ServerStreamMethod,
  UnaryMethod,
} from "./definition.ts";
import { toErrorStatus } from "./error-status.ts";
import { readRequests } from "./read-requests.ts";

/**
 * The replacement of a request that cannot be decoded, so that such a request is answered and logged like
 * other wrong requests.
 */
const UNREADABLE = Symbol("unreadable request");

/** A request message, boxed so that grpc-js never takes an empty one for a missing one. */
export interface DecodedRequest {
  readonly message: unknown;
}

/** The server's part in serving a call. */
export interface ServeHooks {
  toAppError(error: unknown): AppError;
  /** Called when the caller of a client stream has sent all requests and waits for the answer. */
  onReceived(context: CallContext): void;
  /** Called when the handler has ended; the first report of a call counts. */
  onHandled(context: CallContext, code: Code, error?: AppError): void;
}

/** One admitted call and the way to serve it. */
export interface Serving<Method> {
  context: CallContext;
  method: Method;
  serialize: (value: unknown) => Buffer;
  hooks: ServeHooks;
}

/**
 * Runs a unary handler. All errors are answered and never thrown, also those of serializing the response: a
 * rejected promise inside grpc-js would end the process.
 */
export async function serveUnary(
  call: ServerUnaryCall<DecodedRequest, Buffer>,
  respond: sendUnaryData<Buffer>,
  { context, method, serialize, hooks }: Serving<UnaryMethod<unknown, unknown>>,
): Promise<void> {
  try {
    const response = await method.handler(readRequest(call.request), context);
    const bytes = serialize(response);
    hooks.onHandled(context, Code.OK);
    respond(null, bytes);
  } catch (thrown) {
    const error = toPublicError(thrown, hooks);
    const status = toErrorStatus(error);
    hooks.onHandled(context, status.code, error);
    respond(status);
  }
}

/**
 * Runs a server-streaming handler. An item is taken when the previous one has left, and the iterable is
 * closed when the call is over. By itself grpc-js would take 16 items of any size.
 */
export async function serveStream(
  call: ServerWritableStream<DecodedRequest, Buffer>,
  { context, method, serialize, hooks }: Serving<ServerStreamMethod<unknown, unknown>>,
): Promise<void> {
  try {
    let sent = Promise.resolve();
    for await (const item of method.handler(readRequest(call.request), context)) {
      await sent;
      if (context.abortReason !== undefined) break;
      sent = send(call, serialize(item), context.signal);
      // A caller that awaits the promise gets the error.
      sent.catch(() => {});
    }
    if (context.abortReason !== undefined) throw context.abortReason;
    hooks.onHandled(context, Code.OK);
    call.end();
  } catch (thrown) {
    const error = context.abortReason ?? toPublicError(thrown, hooks);
    const status = toErrorStatus(error);
    hooks.onHandled(context, status.code, error);
    // grpc-js takes a stream's status from its error event.
    call.emit("error", Object.assign(new Error(status.details), status));
  }
}

/** Resolves when the client has room for a message; rejects when the call ends before. */
function send(
  call: ServerWritableStream<DecodedRequest, Buffer>,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    call.write(bytes, (error: Error | null | undefined) => {
      signal.removeEventListener("abort", onAbort);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Runs a client-streaming handler, which reads the requests at its own pace. */
export async function serveClientStream(
  call: ServerReadableStream<DecodedRequest, Buffer>,
  respond: sendUnaryData<Buffer>,
  { context, method, serialize, hooks }: Serving<ClientStreamMethod<unknown, unknown>>,
): Promise<void> {
  try {
    const requests = readRequests(call, context, readRequest, () => hooks.onReceived(context));
    const response = await method.handler(requests, context);
    const bytes = serialize(response);
    hooks.onHandled(context, Code.OK);
    respond(null, bytes);
  } catch (thrown) {
    const error = context.abortReason ?? toPublicError(thrown, hooks);
    const status = toErrorStatus(error);
    hooks.onHandled(context, status.code, error);
    respond(status);
  }
}

/** The decoder to register with grpc-js: never throws, see UNREADABLE. */
export function decoder(definition: RpcMethodDefinition): (bytes: Buffer) => DecodedRequest {
  return (bytes) => {
    try {
      return { message: definition.requestDeserialize(bytes) };
    } catch {
      return { message: UNREADABLE };
    }
  };
}

/** The encoder that the serve functions use; grpc-js itself only gets finished bytes. */
export function encoder(
  definition: RpcMethodDefinition,
  maxMessageBytes: number,
): (value: unknown) => Buffer {
  return (value) => {
    const bytes = definition.responseSerialize(value);
    if (bytes.byteLength > maxMessageBytes) {
      throw new AppError("INTERNAL_ERROR", "The response is too large.", {
        internal: `response of ${bytes.byteLength} bytes, at most ${maxMessageBytes}`,
      });
    }
    return bytes;
  };
}

function readRequest(request: DecodedRequest): unknown {
  if (request.message === UNREADABLE) {
    throw new AppError("BAD_REQUEST", "The request message could not be decoded.");
  }
  return request.message;
}

function toPublicError(thrown: unknown, hooks: ServeHooks): AppError {
  try {
    return hooks.toAppError(thrown);
  } catch (cause) {
    return new AppError("INTERNAL_ERROR", "An internal error occurred.", { cause });
  }
}
