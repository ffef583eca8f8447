import type { oas31 } from "zod-openapi";

/** A route by which webhooks come in. */
export interface InboundRoute {
  path: string;
  operationId: string;
  summary: string;
  description: string;
  /** The headers by which the sender is known. */
  headers: readonly oas31.ParameterObject[];
  receipt: "InboundReceipt" | "InboundCount";
  anyBody?: boolean;
}

/** All of them; what they do is the webhooks service's business. */
export const INBOUND_ROUTES: readonly InboundRoute[] = [
  {
    path: "/webhooks/custom/{companyId}/{path}",
    operationId: "receiveCustomEvent",
    summary: "Start the workflows whose webhook trigger has this path",
    description:
      "The path is the secret. A body that is no JSON reaches the workflow as `{rawBody}`. With `Idempotency-Key` or `X-Event-Id` a repeat starts nothing.",
    headers: [
      signature("Idempotency-Key", false, "order-4711", "The event's id: repeats start nothing."),
      signature("X-Event-Id", false, "order-4711", "As `Idempotency-Key`."),
    ],
    receipt: "InboundReceipt",
    anyBody: true,
  },
  {
    path: "/webhooks/stripe",
    operationId: "receiveStripeEvent",
    summary: "Take an event of Stripe, connected accounts included",
    description: "`event.account` decides whose event it is.",
    headers: [
      signature(
        "Stripe-Signature",
        true,
        "t=1769846402,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
      ),
    ],
    receipt: "InboundReceipt",
  },
  {
    path: "/webhooks/resend",
    operationId: "receiveResendEvent",
    summary: "Take an e-mail that came in at Resend",
    description: "The recipient's address or domain decides whose event it is.",
    headers: [
      signature("svix-id", true, "msg_2b3c"),
      signature("svix-timestamp", true, "1769846402"),
      signature("svix-signature", true, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
    ],
    receipt: "InboundReceipt",
  },
  {
    path: "/webhooks/nango",
    operationId: "receiveBrokerEvent",
    summary: "Take an event of the OAuth broker",
    description:
      "For the broker alone: outcomes of authorizations, and events of providers that it hands on.",
    headers: [
      signature(
        "X-Nango-Hmac-Sha256",
        true,
        "5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
      ),
    ],
    receipt: "InboundReceipt",
  },
  {
    path: "/webhooks/{provider}",
    operationId: "receiveProviderEvent",
    summary: "Take events of another provider: airwallex, hubspot or finance",
    description:
      "Each provider signs in its own way. The connected account decides whose event it is.",
    headers: [],
    receipt: "InboundCount",
  },
];

/** The parameters of their paths. */
export const PATH_PARAMETERS: Readonly<Record<string, { description: string; example: string }>> = {
  companyId: {
    description: "The company's id.",
    example: "019c12d0-0000-7abc-9def-0123456789ab",
  },
  path: {
    description:
      "The path of the trigger. Case, and whether it has periods, hyphens or underscores, does not matter.",
    example: "orders-5fd1c0",
  },
  provider: { description: "airwallex, hubspot or finance.", example: "airwallex" },
};

/** What a status of a refusal means to a sender. */
export interface InboundError {
  name: string;
  description: string;
  example: string;
  /** Whether `Retry-After` says how long to wait. */
  waits?: boolean;
}

/** Every refusal, by its status. */
export const INBOUND_ERRORS: Readonly<Record<string, InboundError>> = {
  400: {
    name: "InboundInvalid",
    description: "The body cannot be read. Do not send it again.",
    example: "Invalid JSON",
  },
  401: {
    name: "InboundUnsigned",
    description: "The signature is missing, wrong, or too old.",
    example: "Invalid signature",
  },
  404: {
    name: "InboundUnknown",
    description: "No such company or provider.",
    example: "Unknown provider: acme",
  },
  413: {
    name: "InboundTooLarge",
    description: "More than 1 MiB.",
    example: "The request body must be at most 1048576 bytes.",
  },
  415: {
    name: "InboundWrongType",
    description: "The body is compressed, or not of the sender's type.",
    example: "The Content-Type must be application/json.",
  },
  429: {
    name: "InboundTooMany",
    waits: true,
    description: "Too many from one address; `Retry-After` says how long to wait.",
    example: "Rate limit exceeded. Limit: 10000 requests per minute.",
  },
  431: {
    name: "InboundHeadersTooLarge",
    description: "The address and the headers are too large.",
    example: "The request's address and headers must be at most 32768 bytes in all.",
  },
  500: {
    name: "InboundFailed",
    description:
      "A check failed for a reason of its own, or the broker's secret is unset. Send it again.",
    example: "Verification error",
  },
  502: {
    name: "InboundUpstreamFailed",
    description: "Another service of ours failed. Send it again.",
    example: "Another service failed.",
  },
  503: {
    name: "InboundAway",
    waits: true,
    description: "We are away. Send it again.",
    example: "The webhooks service cannot be reached. Send the event again.",
  },
  504: {
    name: "InboundTooSlow",
    description: "We were too slow. Send it again.",
    example: "The webhooks service did not answer in time. Send the event again.",
  },
};

function signature(
  name: string,
  required: boolean,
  example: string,
  description = "The sender's signature.",
): oas31.ParameterObject {
  // Without a secret of the installation nothing is signed, so no header is required by all.
  const words = required
    ? `${description} Needed when the installation has its secret.`
    : description;
  return { name, in: "header", description: words, schema: { type: "string" }, example };
}
