import { findSignatureHeader } from "../inbound-request.ts";
import type { InboundRequest } from "../inbound-request.ts";
import type { SignatureVerdict } from "../provider-handler.ts";
import { isTimestampedSignature } from "../signatures/timestamped-signature.ts";

/** Checks `Stripe-Signature` (docs.stripe.com/webhooks#verify-manually). */
export function verifyStripe(
  request: Pick<InboundRequest, "headers" | "rawBody" | "receivedAt">,
  secrets: readonly string[],
): SignatureVerdict {
  if (secrets.length === 0) return "unconfigured";
  const header = findSignatureHeader(request, "stripe-signature");
  if (header === null) return "missing";
  return isTimestampedSignature(header, request, secrets) ? "verified" : "failed";
}
