import type { Queryable } from "@workflow/db";
import { ensureCompanyKey, openText, sealText, unwrapCompanyKey } from "@workflow/sealing";
import type { KeyRing, WrappedKey } from "@workflow/sealing";
import { z } from "zod";

/** The secret parts of an endpoint. */
export interface EndpointSecrets {
  /** `whsec_` and 32 bytes in base64 (D48). */
  secret: string;
  /** Headers that are sent with each delivery. */
  headers: Readonly<Record<string, string>>;
}

/** The endpoint and company to which sealed secrets belong. */
export interface EndpointPlace {
  companyId: string;
  endpointId: string;
}

/** Encrypted bytes, and the company's key that encrypts them. */
export interface Sealed {
  companyKeyId: string;
  sealed: Buffer;
}

const secretsSchema = z.object({
  secret: z.string(),
  headers: z.record(z.string(), z.string()),
});

/** Encrypts an endpoint's secrets under its company's key. They open for no other endpoint. */
export async function sealEndpointSecrets(
  database: Queryable,
  ring: KeyRing,
  place: EndpointPlace,
  secrets: EndpointSecrets,
): Promise<Sealed> {
  const { id, key } = await ensureCompanyKey(database, ring, place.companyId);
  return { companyKeyId: id, sealed: sealText(key, JSON.stringify(secrets), currentOf(place)) };
}

/** Encrypts the secret that a rotation has replaced. */
export async function sealOldSecret(
  database: Queryable,
  ring: KeyRing,
  place: EndpointPlace,
  secret: string,
): Promise<Sealed> {
  const { id, key } = await ensureCompanyKey(database, ring, place.companyId);
  return { companyKeyId: id, sealed: sealText(key, secret, oldOf(place)) };
}

/**
 * Decrypts an endpoint's secrets, and its old secret where there is one.
 *
 * @throws AppError INTERNAL_ERROR for bytes that were changed or belong elsewhere, UNAVAILABLE when SECRETS_KEK
 * lacks the key that wrapped the company's
 */
export async function openEndpointSecrets(
  ring: KeyRing,
  place: EndpointPlace,
  stored: { sealed: Buffer; sealedOldSecret: Buffer | null; wrappedKey: WrappedKey },
): Promise<EndpointSecrets & { oldSecret: string | null }> {
  const key = await unwrapCompanyKey(ring, stored.wrappedKey);
  const what = `what the endpoint ${place.endpointId} holds`;
  const current = openText(key, stored.sealed, currentOf(place), what);
  const { secret, headers } = secretsSchema.parse(JSON.parse(current));
  const old = stored.sealedOldSecret;
  return {
    secret,
    headers,
    oldSecret: old === null ? null : openText(key, old, oldOf(place), what),
  };
}

function currentOf({ companyId, endpointId }: EndpointPlace): string[] {
  return ["endpoint", companyId, endpointId];
}

function oldOf({ companyId, endpointId }: EndpointPlace): string[] {
  return ["endpoint-old-secret", companyId, endpointId];
}
