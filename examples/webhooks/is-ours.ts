import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_S = 300;
const SIGNATURE_BYTES = 32;

/**
 * Whether a delivery was signed with the endpoint's secret, and not long ago. How it is signed, with code in other
 * languages, is in docs/verify-webhooks.md.
 *
 * @param body as it came in, byte for byte
 * @param header the value of X-Webhook-Signature
 */
export function isOurs(body: Buffer, header: string, secret: string): boolean {
  const parts = header.split(",").map((part) => part.split("="));
  const [, timestamp = ""] = parts.find(([name]) => name === "t") ?? [];
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > TOLERANCE_S) return false;
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
  return parts.some(([name, value = ""]) => {
    const given = Buffer.from(value, "hex");
    return name === "v1" && given.length === SIGNATURE_BYTES && timingSafeEqual(given, expected);
  });
}
