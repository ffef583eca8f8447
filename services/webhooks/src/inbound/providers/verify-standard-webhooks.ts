import { findSignatureHeader } from "../inbound-request.ts";
import type { InboundRequest } from "../inbound-request.ts";
import type { SignatureVerdict } from "../provider-handler.ts";
import { isSigned, isTimely, parseBase64Digest } from "../signatures/hmac.ts";

const SECRET_PREFIX = "whsec_";
const VERSION_PREFIX = "v1,";
/** Two are normal while a secret is replaced. Each further one costs a comparison. */
const SIGNATURES_MAX = 16;

/**
 * Checks a signature of Standard Webhooks (standardwebhooks.com). Its headers begin with `webhook-`, or `svix-`
 * with its inventor. The signature is a list of `v1,<base64>`, each the HMAC-SHA256 of `<id>.<unix seconds>.<body>`
 * under a secret in base64.
 */
export function verifyStandardWebhooks(
  request: Pick<InboundRequest, "headers" | "rawBody" | "receivedAt">,
  secrets: readonly string[],
): SignatureVerdict {
  if (secrets.length === 0) return "unconfigured";
  const list = findEither(request, "signature");
  if (list === null) return "missing";
  const id = findMessageId(request);
  const time = findEither(request, "timestamp");
  if (id === null || time === null || !isTimely(time, request.receivedAt, "seconds")) {
    return "failed";
  }
  const signatures = list
    .split(" ", SIGNATURES_MAX)
    .filter((entry) => entry.startsWith(VERSION_PREFIX))
    .flatMap((entry) => parseBase64Digest(entry.slice(VERSION_PREFIX.length)) ?? []);
  const parts = [`${id}.${time}.`, request.rawBody];
  return isSigned(secrets.map(toKey), parts, signatures) ? "verified" : "failed";
}

/** The sender's id of a message, the same on each try; null when there is none. */
export function findMessageId(request: Pick<InboundRequest, "headers">): string | null {
  return findEither(request, "id");
}

function findEither(request: Pick<InboundRequest, "headers">, name: string): string | null {
  const ofInventor = findSignatureHeader(request, `svix-${name}`);
  return ofInventor ?? findSignatureHeader(request, `webhook-${name}`);
}

function toKey(secret: string): Buffer {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return Buffer.from(encoded, "base64");
}
