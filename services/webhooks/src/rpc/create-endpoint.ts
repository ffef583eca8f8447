import { newId } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type {
  CreateEndpointRequest,
  EndpointWithSecret,
} from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { ENDPOINT_ID_PREFIX, ENDPOINTS_MAX } from "../domain/endpoint.ts";
import { endpointChanges, endpointEntry } from "../endpoints/endpoint-audit.ts";
import { getEndpointRow } from "../endpoints/find-endpoint.ts";
import { newSecret } from "../endpoints/open-endpoint.ts";
import { parseNewEndpoint } from "../endpoints/parse-endpoint.ts";
import { sealEndpointSecrets } from "../secrets/endpoint-secrets.ts";
import { insertEndpoint, lockEndpointsOf } from "../store/endpoints.ts";
import { toEndpointMessage } from "./endpoint-message.ts";

/** Creates an endpoint and its secret. Only this answer shows the secret. */
export function createEndpoint(
  context: ServiceContext,
): UnaryMethod<CreateEndpointRequest, EndpointWithSecret> {
  const { database, ring, writes, http, audit } = context;
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const { headers, ...content } = parseNewEndpoint(http, request);
      const companyId = call.identity.companyId.toLowerCase();
      const key = { companyId, endpointId: newId(ENDPOINT_ID_PREFIX) };
      const secret = newSecret();
      const sealed = await sealEndpointSecrets(database, ring, key, { secret, headers });
      const row = await writes.transaction(call, async (transaction) => {
        await lockEndpointsOf(transaction, companyId);
        if (!(await insertEndpoint(transaction, key, { content, sealed }, ENDPOINTS_MAX))) {
          throw tooManyEndpoints();
        }
        const created = await getEndpointRow(transaction, key);
        const changes = endpointChanges(null, created);
        await audit.record(
          transaction,
          call,
          endpointEntry("webhook_endpoint.created", created, changes),
        );
        return created;
      });
      audit.wake();
      return { endpoint: toEndpointMessage(row, headers), secret };
    },
  });
}

function tooManyEndpoints(): AppError {
  return new AppError(
    "BAD_REQUEST",
    `The company has ${ENDPOINTS_MAX} webhook endpoints, which is the most; delete one first.`,
    { details: { limit: "webhook_endpoints", max: ENDPOINTS_MAX } },
  );
}
