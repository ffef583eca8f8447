import { randomBytes } from "node:crypto";
import type { KeyRing } from "@workflow/sealing";
import { openEndpointSecrets } from "../secrets/endpoint-secrets.ts";
import type { EndpointSecrets } from "../secrets/endpoint-secrets.ts";
import type { EndpointRow } from "../store/endpoints.ts";

const SECRET_BYTES = 32;

/**
 * Decrypts the secrets of an endpoint.
 *
 * @throws AppError as `openEndpointSecrets` does
 */
export async function openEndpoint(
  ring: KeyRing,
  row: EndpointRow,
): Promise<EndpointSecrets & { oldSecret: string | null }> {
  const { id: endpointId, companyId, keyId, kekId, wrappedKey, sealed, sealedOldSecret } = row;
  return openEndpointSecrets(
    ring,
    { companyId, endpointId },
    { sealed, sealedOldSecret, wrappedKey: { id: keyId, companyId, kekId, wrappedKey } },
  );
}

/** A new secret in the form of Standard Webhooks (D48). */
export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}
