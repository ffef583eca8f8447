import type { Metadata } from "@grpc/grpc-js";
import type { RequestOf, RpcDefinition, RpcMethodDefinition } from "./definition.ts";

/**
 * The unary methods whose calls about one thing go to the same replica, each with a function that names the
 * thing. Such a method only reads: a call that ends with UNAVAILABLE is repeated once at another replica.
 */
export type RpcAffinity<D extends RpcDefinition> = {
  readonly [Name in keyof D]?: D[Name] extends UnaryDefinition
    ? (request: RequestOf<D[Name]>) => string
    : never;
};

type UnaryDefinition = RpcMethodDefinition & {
  readonly requestStream: false;
  readonly responseStream: false;
};

/** Names the thing that a request of one method is about. */
export type KeyOf = (request: unknown) => string;

/** Method path → what its requests are about. */
export type AffineMethods = ReadonlyMap<string, KeyOf>;

/** The metadata in which a call's key reaches the load balancer, which takes it out before the call is sent. */
const KEY = "workflow-affinity";
/** Set by grpc-js from the second attempt of a call on. */
const PREVIOUS_ATTEMPTS = "grpc-previous-rpc-attempts";

/** Tells the load balancer what a call is about. */
export function setAffinityKey(metadata: Metadata, key: string): void {
  // Metadata holds ASCII only, and the key may be anything that a caller wrote.
  metadata.set(KEY, encodeURIComponent(key.toWellFormed()));
}

/** Takes the key of a call out of its metadata. Undefined when the call may go anywhere. */
export function takeAffinityKey(metadata: Metadata): string | undefined {
  const [key] = metadata.get(KEY);
  if (key === undefined) return undefined;
  metadata.remove(KEY);
  return key.toString();
}

/** How often a call was sent before. */
export function previousAttempts(metadata: Metadata): number {
  const [count] = metadata.get(PREVIOUS_ATTEMPTS);
  return count === undefined ? 0 : Number(count);
}
