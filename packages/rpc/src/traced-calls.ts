import { isAppError } from "@workflow/errors";
import type { Span, Tracer } from "@workflow/tracing";
import type { RpcCallOptions } from "./client-options.ts";
import type { RpcMethodDefinition } from "./definition.ts";

/** Makes a call under a span of its own, where its trace is recorded. */
export function tracedCall<Answer>(
  tracer: Tracer | undefined,
  method: RpcMethodDefinition,
  options: RpcCallOptions | undefined,
  call: (options: RpcCallOptions | undefined) => Promise<Answer>,
): Promise<Answer> {
  const span = spanOf(tracer, method, options);
  if (span === undefined) return call(options);
  return call({ ...options, traceparent: span.traceparent }).then(
    (answer) => {
      span.end();
      return answer;
    },
    (error: unknown) => {
      span.end(codeOf(error));
      throw error;
    },
  );
}

/** The same for a call whose answer is a stream: the span lasts as long as somebody reads it. */
export function tracedStream<Item>(
  tracer: Tracer | undefined,
  method: RpcMethodDefinition,
  options: RpcCallOptions | undefined,
  call: (options: RpcCallOptions | undefined) => AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  // A stream that nobody reads is never called.
  const isTraced = tracer !== undefined && options?.traceparent !== undefined;
  return isTraced ? readTraced(tracer, method, options, call) : call(options);
}

async function* readTraced<Item>(
  tracer: Tracer,
  method: RpcMethodDefinition,
  options: RpcCallOptions,
  call: (options: RpcCallOptions) => AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  const span = spanOf(tracer, method, options);
  const traceparent = span?.traceparent ?? options.traceparent;
  let failure: string | undefined;
  try {
    yield* call({ ...options, traceparent });
  } catch (error) {
    failure = codeOf(error);
    throw error;
  } finally {
    span?.end(failure);
  }
}

function spanOf(
  tracer: Tracer | undefined,
  { path }: RpcMethodDefinition,
  options: RpcCallOptions | undefined,
): Span | undefined {
  return tracer?.span(path.slice(1), options?.traceparent, {
    kind: "client",
    attributes: { "rpc.system": "grpc", "workflow.request.id": options?.requestId },
  });
}

function codeOf(error: unknown): string {
  return isAppError(error) ? error.reason : "UNKNOWN";
}
