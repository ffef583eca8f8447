import type { RpcCallOptions } from "@workflow/rpc";
import type { CallCause } from "../domain/run-facts.ts";

/** What a call carries that connects it with the run that it is made for. */
export function causeOptions({
  requestId,
  traceparent,
}: CallCause): Pick<RpcCallOptions, "requestId" | "traceparent"> {
  return { requestId: requestId ?? undefined, traceparent: traceparent ?? undefined };
}
