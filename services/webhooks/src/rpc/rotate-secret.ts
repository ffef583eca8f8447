import type {
  EndpointWithSecret,
  RotateSecretRequest,
} from "@workflow/proto/webhooks/v1/endpoints";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { endpointEntry } from "../endpoints/endpoint-audit.ts";
import {
  endpointNotFound,
  getEndpointRow,
  requireEndpointKey,
} from "../endpoints/find-endpoint.ts";
import { newSecret, openEndpoint } from "../endpoints/open-endpoint.ts";
import { wrongField } from "../endpoints/wrong-field.ts";
import { sealEndpointSecrets, sealOldSecret } from "../secrets/endpoint-secrets.ts";
import { lockEndpoint, updateSecrets } from "../store/endpoints.ts";
import { announceEndpoint } from "../store/lanes.ts";
import { toEndpointMessage } from "./endpoint-message.ts";

const OVERLAP_DEFAULT_SECONDS = 24 * 60 * 60;
const OVERLAP_MAX_SECONDS = 7 * 24 * 60 * 60;

/**
 * Gives an endpoint a new secret, which only this answer shows. The previous secret also signs during
 * the overlap (D48).
 */
export function rotateSecret(
  context: ServiceContext,
): UnaryMethod<RotateSecretRequest, EndpointWithSecret> {
  const { ring, writes, audit } = context;
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const key = requireEndpointKey(request.endpointId, call);
      const overlapSeconds = parseOverlap(request.overlapSeconds);
      const secret = newSecret();
      const { row, headers } = await writes.transaction(call, async (transaction) => {
        const before = await lockEndpoint(transaction, key);
        if (before === null) throw endpointNotFound();
        const held = await openEndpoint(ring, before);
        const secrets = { secret, headers: held.headers };
        const { sealed } = await sealEndpointSecrets(transaction, ring, key, secrets);
        const old = await sealOldSecret(transaction, ring, key, held.secret);
        const overlap = overlapSeconds === 0 ? null : { sealed: old.sealed, overlapSeconds };
        await updateSecrets(transaction, key, sealed, overlap);
        const after = await getEndpointRow(transaction, key);
        await announceEndpoint(transaction, key);
        const changes = {
          secret: { changed: true as const },
          overlapSeconds: { from: null, to: overlapSeconds },
        };
        await audit.record(
          transaction,
          call,
          endpointEntry("webhook_endpoint.secret_rotated", after, changes),
        );
        return { row: after, headers: held.headers };
      });
      audit.wake();
      return { endpoint: toEndpointMessage(row, headers), secret };
    },
  });
}

function parseOverlap(seconds: number = OVERLAP_DEFAULT_SECONDS): number {
  if (seconds >= 0 && seconds <= OVERLAP_MAX_SECONDS) return seconds;
  throw wrongField("overlapSeconds", `must be from 0 to ${OVERLAP_MAX_SECONDS}`);
}
