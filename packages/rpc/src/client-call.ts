import { Metadata } from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import { AppError } from "@workflow/errors";
import { setClientFacts } from "./client-facts.ts";
import type { RpcCallOptions, RpcClientOptions } from "./client-options.ts";
import type { RpcMethodDefinition } from "./definition.ts";
import { isRequestId } from "./request-id.ts";
import { fromServiceError } from "./error-status.ts";

/** The metadata of a call: the caller, and the ids that connect calls. */
export async function callMetadata(
  { minter }: RpcClientOptions,
  { identity, token, requestId, traceparent, client }: RpcCallOptions,
): Promise<Metadata> {
  const metadata = new Metadata();
  if (token !== undefined) {
    metadata.set("authorization", `Bearer ${token}`);
  } else if (identity !== undefined) {
    if (minter === undefined) throw new Error("A client without a minter cannot use identities.");
    metadata.set("authorization", `Bearer ${await minter.mint(identity)}`);
  }
  // Runs have ids of other forms. The receiver would replace them, and metadata allows ASCII only.
  if (requestId !== undefined && isRequestId(requestId)) metadata.set("x-request-id", requestId);
  if (traceparent !== undefined) metadata.set("traceparent", traceparent);
  setClientFacts(metadata, client);
  return metadata;
}

/**
 * 24 days: servers of grpc-js keep a call's time in 32 bits of milliseconds, and end a call with
 * more at once. The time is sent rounded up.
 */
const CALL_MS_MAX = 24 * 86_400_000;

/**
 * The deadline of a unary call, in milliseconds since the epoch: in 24 days at most, or never where
 * its `timeoutMs` is Infinity.
 */
export function callDeadline(
  { defaultTimeoutMs = 10_000 }: Pick<RpcClientOptions, "defaultTimeoutMs">,
  { timeoutMs, deadline }: RpcCallOptions,
): number {
  const timeMs = timeoutMs ?? (deadline === undefined ? defaultTimeoutMs : Infinity);
  // An infinite deadline is not sent.
  if (deadline === undefined && timeMs === Infinity) return Infinity;
  const end = Date.now() + Math.min(timeMs, CALL_MS_MAX);
  return deadline === undefined ? end : Math.min(deadline.getTime(), end);
}

/** The deadline of a stream, in milliseconds since the epoch. */
export function streamDeadline(
  { defaultStreamTimeoutMs = 3_600_000 }: RpcClientOptions,
  options: RpcCallOptions,
): number {
  return callDeadline({ defaultTimeoutMs: defaultStreamTimeoutMs }, options);
}

/** The AppError that a failed call rejects with. */
export function failure(
  error: ServiceError,
  method: RpcMethodDefinition,
  signal: AbortSignal | undefined,
): AppError {
  return signal?.aborted === true
    ? cancelled(signal)
    : fromServiceError(error, method.path.slice(1));
}

/** @throws the cancellation's error when the call was cancelled before it began */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled(signal);
}

/** Whether an error came from the call, not from the code that uses its results. */
export function isServiceError(value: unknown): value is ServiceError {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    "details" in value &&
    "metadata" in value
  );
}

function cancelled(signal: AbortSignal): AppError {
  return new AppError("UNAVAILABLE", "The request was cancelled.", { cause: signal.reason });
}
