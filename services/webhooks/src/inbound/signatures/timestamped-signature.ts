import { isSigned, isTimely, parseHexDigest } from "./hmac.ts";

/** Two are normal while a secret is replaced. Each further one costs a comparison. */
const SIGNATURES_MAX = 16;

/**
 * Whether a header `t=<unix seconds>,v1=<hex>[,v1=<hex>…]` signs a body: one v1 is the HMAC-SHA256 of
 * `<t>.<body>` under one of the secrets, and t is at most 300 s away. Other schemes in the list do not count.
 */
export function isTimestampedSignature(
  header: string,
  { rawBody, receivedAt }: { rawBody: Buffer; receivedAt: Date },
  secrets: readonly string[],
): boolean {
  const entries = header.split(",", SIGNATURES_MAX + 2);
  if (entries.length > SIGNATURES_MAX + 1) return false;
  const timestamps: string[] = [];
  const signatures: Buffer[] = [];
  for (const entry of entries) {
    const [scheme, value = ""] = entry.trim().split("=", 2);
    if (scheme === "t") timestamps.push(value);
    const digest = scheme === "v1" ? parseHexDigest(value) : null;
    if (digest !== null) signatures.push(digest);
  }
  const [timestamp = ""] = timestamps;
  if (timestamps.length !== 1 || !isTimely(timestamp, receivedAt, "seconds")) return false;
  return isSigned(secrets, [timestamp, ".", rawBody], signatures);
}
