import type { Queryable } from "@workflow/db";
import { ensureCompanyKey, openText, sealText, unwrapCompanyKey } from "@workflow/sealing";
import type { KeyRing, WrappedKey } from "@workflow/sealing";
import { z } from "zod";

/** What an endpoint holds that nobody may read. */
export interface EndpointSecrets {
  /** `whsec_` and 32 bytes in base64 (D48). */
  secret: string;
  /** Sent with each delivery. */
  headers: Readonly<Record<string, string>>;
}

/** Whose they are. */
export interface EndpointPlace {
  companyId: string;
  endpointId: string;
}

/** Something encrypted, and with which of the company's keys. */
export interface Sealed {
  companyKeyId: string;
  sealed: Buffer;
}

const secretsSchema = z.object({
  secret: z.string(),
  headers: z.record(z.string(), z.string()),
});

/** Encrypts what an endpoint holds under its company's key: it opens nowhere else. */
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
 * Decrypts what an endpoint holds, and its old secret where there is one.
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
