import { isId } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { RpcContext } from "@workflow/rpc";
import { findEndpoint } from "../store/endpoints.ts";
import type { EndpointRow } from "../store/endpoints.ts";
import type { EndpointKey } from "../store/lanes.ts";
import { ENDPOINT_ID_PREFIX } from "../domain/endpoint.ts";

/**
 * The endpoint that a caller names.
 *
 * @throws AppError NOT_FOUND for an id of the wrong form (D1)
 */
export function requireEndpointKey(
  endpointId: string,
  { identity }: Pick<RpcContext, "identity">,
): EndpointKey {
  if (!isId(ENDPOINT_ID_PREFIX, endpointId)) throw endpointNotFound();
  return { companyId: identity.companyId.toLowerCase(), endpointId };
}

/**
 * An endpoint of the company.
 *
 * @throws AppError NOT_FOUND
 */
export async function getEndpointRow(queryable: Queryable, key: EndpointKey): Promise<EndpointRow> {
  const row = await findEndpoint(queryable, key);
  if (row === null) throw endpointNotFound();
  return row;
}

/** The one error for endpoints that do not exist. */
export function endpointNotFound(): AppError {
  return new AppError("NOT_FOUND", "Webhook endpoint not found");
}

/** The one error for deliveries that do not exist. */
export function deliveryNotFound(): AppError {
  return new AppError("NOT_FOUND", "Webhook delivery not found");
}

/** The error for operations that need an active endpoint. */
export function endpointDisabled(): AppError {
  const message = "The endpoint is disabled; set its status to active first.";
  return new AppError("INVALID_STATE", message, { details: { status: "disabled" } });
}
