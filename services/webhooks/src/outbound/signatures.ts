import { createHmac } from "node:crypto";
import type { Hmac } from "node:crypto";

/** The secrets of an endpoint that sign at present. */
export interface SigningSecrets {
  /** `whsec_` and 32 bytes in base64 (D48). */
  secret: string;
  /** The previous secret during the overlap; null otherwise. */
  oldSecret: string | null;
}

const DIGEST = /[0-9a-f]{64}|[A-Za-z0-9+/]{43}=/g;

/** The digests in the headers of `signatureHeaders`. A person who has a digest could send the message too. */
export function sentDigests(headers: Readonly<Record<string, string>>): readonly string[] {
  const { "X-Webhook-Signature": own = "", "webhook-signature": standard = "" } = headers;
  return `${own} ${standard}`.match(DIGEST) ?? [];
}

/** The shortest length of a digest, in any encoding. */
export const DIGEST_CHARS_MIN = 43;

/** The content that a signature covers. */
export interface SignedMessage {
  eventId: string;
  body: Buffer;
}

const SECRET_PREFIX = "whsec_";

/**
 * The headers with the id, time and signatures of a delivery. Those of the contract use the whole text
 * of the secret as key. Those of Standard Webhooks use the bytes in its base64 (D48).
 */
export function signatureHeaders(
  { secret, oldSecret }: SigningSecrets,
  { eventId, body }: SignedMessage,
  at: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const secrets = oldSecret === null ? [secret] : [secret, oldSecret];
  const own = secrets.map((key) => {
    const digest = createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex");
    return `v1=${digest}`;
  });
  const standard = secrets.map((key) => {
    const hmac = standardHmac(key).update(`${eventId}.${timestamp}.`);
    return `v1,${hmac.update(body).digest("base64")}`;
  });
  return {
    "X-Webhook-Signature": [`t=${timestamp}`, ...own].join(","),
    "X-Webhook-ID": eventId,
    "X-Webhook-Timestamp": timestamp,
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": standard.join(" "),
  };
}

/** The key is passed as base64 text: with bytes Node takes five times as long as all the rest. */
function standardHmac(secret: string): Hmac {
  return createHmac("sha256", secret.slice(SECRET_PREFIX.length), { encoding: "base64" });
}
