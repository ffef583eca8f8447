import { createHash, timingSafeEqual } from "node:crypto";
import type { InboundRequest } from "../inbound-request.ts";
import type { SignatureVerdict } from "../provider-handler.ts";
import { isSigned, parseHexDigest } from "../signatures/hmac.ts";

/**
 * Checks Nango's signatures. `X-Nango-Hmac-Sha256` is the HMAC-SHA256 of the body, in hexadecimal
 * digits. The older `X-Nango-Signature` is the SHA-256 of secret and body, and counts only without the
 * newer one.
 */
export function verifyNango(
  request: Pick<InboundRequest, "headers" | "rawBody">,
  secrets: readonly string[],
): SignatureVerdict {
  if (secrets.length === 0) return "unconfigured";
  const [hmac, ...hmacs] = request.headers.get("x-nango-hmac-sha256") ?? [];
  const [older, ...olders] = request.headers.get("x-nango-signature") ?? [];
  if (hmac === undefined && older === undefined) return "missing";
  // With several values it is unknown which one a proxy has checked.
  if (hmacs.length + olders.length > 0) return "failed";
  const digest = parseHexDigest(hmac ?? older ?? "");
  if (digest === null) return "failed";
  const isGenuine =
    hmac === undefined
      ? isHashed(secrets, request.rawBody, digest)
      : isSigned(secrets, [request.rawBody], [digest]);
  return isGenuine ? "verified" : "failed";
}

function isHashed(secrets: readonly string[], body: Buffer, given: Buffer): boolean {
  let matches = 0;
  for (const secret of secrets) {
    const expected = createHash("sha256").update(secret).update(body).digest();
    matches += timingSafeEqual(expected, given) ? 1 : 0;
  }
  return matches > 0;
}
