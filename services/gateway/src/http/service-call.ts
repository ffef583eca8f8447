import type { Identity, RpcCallOptions } from "@workflow/rpc";
import type { RequestInfo } from "./request-info.ts";

/** Nobody's: of a person who comes back from a provider only the attempt is known, and by it its company. */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

const GATEWAY: Identity = {
  companyId: NO_COMPANY,
  principal: { type: "service", id: "gateway" },
  scopes: ["internal:authorizations"],
};

/** Calls in the gateway's own name, for whoever goes on with an attempt to connect an account. */
export function serviceCallOf({ requestId, client, traceparent }: RequestInfo): RpcCallOptions {
  return {
    identity: GATEWAY,
    requestId,
    client,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
