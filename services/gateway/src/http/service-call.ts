import type { Identity, RpcCallOptions } from "@workflow/rpc";
import type { RequestInfo } from "./request-info.ts";

/**
 * An identity without a principal: of a person who returns from a provider only the attempt is
 * known, and with it the company.
 */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

const GATEWAY: Identity = {
  companyId: NO_COMPANY,
  principal: { type: "service", id: "gateway" },
  scopes: ["internal:authorizations"],
};

/**
 * Calls a service in the gateway's own name, for a person who continues an attempt to connect an
 * account.
 */
export function serviceCallOf({ requestId, client, traceparent }: RequestInfo): RpcCallOptions {
  return {
    identity: GATEWAY,
    requestId,
    client,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
