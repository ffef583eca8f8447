import { findSignatureHeader } from "../inbound-request.ts";
import type { InboundRequest } from "../inbound-request.ts";
import type { SignatureVerdict } from "../provider-handler.ts";
import { isSigned, isTimely } from "./signed-texts.ts";

const SECRET_PREFIX = "whsec_";
const VERSION_PREFIX = "v1,";

/**
 * The scheme of Standard Webhooks, whose headers begin with `webhook-`, or `svix-` with its inventor: a list
 * `v1,<base64>` over `<id>.<time>.<body>`.
 */
export function verifyStandardWebhooks(
  request: Pick<InboundRequest, "headers" | "rawBody" | "receivedAt">,
  secrets: readonly string[],
): SignatureVerdict {
  const id = messageIdOf(request);
  const time = findEither(request, "timestamp");
  const list = findEither(request, "signature");
  if (secrets.length === 0) return "unconfigured";
  if (list === null) return "missing";
  if (id === null || time === null || !isTimely(time, request.receivedAt)) return "failed";
  const signatures = list
    .split(" ")
    .filter((entry) => entry.startsWith(VERSION_PREFIX))
    .map((entry) => Buffer.from(entry.slice(VERSION_PREFIX.length), "base64"));
  const isGenuine = isSigned([`${id}.${time}.`, request.rawBody], secrets.map(toKey), signatures);
  return isGenuine ? "verified" : "failed";
}

/** The sender's id of a message, the same on each of its tries; null when there is none. */
export function messageIdOf(request: Pick<InboundRequest, "headers">): string | null {
  return findEither(request, "id");
}

function findEither(request: Pick<InboundRequest, "headers">, name: string): string | null {
  return (
    findSignatureHeader(request, `svix-${name}`) ?? findSignatureHeader(request, `webhook-${name}`)
  );
}

function toKey(secret: string): Buffer {
  return Buffer.from(
    secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret,
    "base64",
  );
}
