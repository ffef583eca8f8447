import type { RpcCallOptions } from "@workflow/rpc";
import type { CallCause } from "../domain/run-facts.ts";

/** The call options that connect a call with the run that needs it. */
export function causeOptions({
  requestId,
  traceparent,
}: CallCause): Pick<RpcCallOptions, "requestId" | "traceparent"> {
  return { requestId: requestId ?? undefined, traceparent: traceparent ?? undefined };
}
