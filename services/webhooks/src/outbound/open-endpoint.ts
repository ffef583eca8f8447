import { answerTogether, Batcher } from "@workflow/async";
import type { Database } from "@workflow/db";
import type { KeyRing } from "@workflow/sealing";
import { openEndpointSecrets } from "../secrets/endpoint-secrets.ts";
import { readDeliveryEndpoints } from "../store/delivery-endpoints.ts";
import type { DeliveryEndpoint } from "../store/delivery-endpoints.ts";
import type { DeliveryTarget } from "./attempt.ts";

/** An endpoint in its present state, ready for deliveries. */
export interface OpenEndpoint extends DeliveryTarget {
  isActive: boolean;
  rateLimitPerSecond: number | null;
  consecutiveFailures: number;
}

/** Reads endpoints, several at a time. */
export interface EndpointReader {
  /** Null when the endpoint does not exist (any more). */
  read(endpointId: string): Promise<OpenEndpoint | null>;
}

const READ_MAX = 256;

/** @see EndpointReader */
export function createEndpointReader(database: Database, ring: KeyRing): EndpointReader {
  const reads = new Batcher<string, DeliveryEndpoint | null>({
    itemsMax: READ_MAX,
    batchesMax: 1,
    handle: answerTogether(async (ids) => {
      const found = await readDeliveryEndpoints(database, ids);
      return ids.map((id) => found.get(id) ?? null);
    }),
  });
  return {
    async read(endpointId) {
      const stored = await reads.ask(endpointId);
      return stored === null ? null : open(ring, stored);
    },
  };
}

async function open(ring: KeyRing, stored: DeliveryEndpoint): Promise<OpenEndpoint> {
  const { companyId, endpointId, keyId, kekId, wrappedKey } = stored;
  const secrets = await openEndpointSecrets(
    ring,
    { companyId, endpointId },
    { ...stored, wrappedKey: { id: keyId, companyId, kekId, wrappedKey } },
  );
  const { url, isActive, rateLimitPerSecond, consecutiveFailures } = stored;
  return { companyId, url, ...secrets, isActive, rateLimitPerSecond, consecutiveFailures };
}
