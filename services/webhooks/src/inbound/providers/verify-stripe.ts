import { findSignatureHeader } from "../inbound-request.ts";
import type { InboundRequest } from "../inbound-request.ts";
import type { SignatureVerdict } from "../provider-handler.ts";
import { isSigned, isTimely } from "./signed-texts.ts";

const HEX = /^[0-9a-f]{64}$/i;

/**
 * Stripe's scheme: `Stripe-Signature: t=<unix time>,v1=<hex>[,v1=<hex>]` over `<t>.<body>`; other schemes in the
 * header do not count. See https://docs.stripe.com/webhooks#verify-manually
 */
export function verifyStripe(
  request: Pick<InboundRequest, "headers" | "rawBody" | "receivedAt">,
  secrets: readonly string[],
): SignatureVerdict {
  const header = findSignatureHeader(request, "stripe-signature");
  if (secrets.length === 0) return "unconfigured";
  if (header === null) return "missing";
  const times: string[] = [];
  const signatures: Buffer[] = [];
  for (const part of header.split(",")) {
    const [name = "", value = ""] = part.trim().split("=", 2);
    if (name === "t") times.push(value);
    if (name === "v1" && HEX.test(value)) signatures.push(Buffer.from(value, "hex"));
  }
  const [time = ""] = times;
  if (times.length !== 1 || !isTimely(time, request.receivedAt)) return "failed";
  const keys = secrets.map((secret) => Buffer.from(secret));
  return isSigned([`${time}.`, request.rawBody], keys, signatures) ? "verified" : "failed";
}
