import type { oas31 } from "zod-openapi";

/** A route of inbound webhooks. */
export interface InboundRoute {
  path: string;
  operationId: string;
  summary: string;
  description: string;
  /** The headers that identify the sender. */
  headers: readonly oas31.ParameterObject[];
  receipt: "InboundReceipt" | "InboundCount";
  /** The route's own errors, in addition to the common ones. */
  errors: readonly InboundErrorName[];
  /** The body. */
  example: unknown;
  anyBody?: boolean;
}

/** All routes of inbound webhooks; the webhooks service implements them. */
export const INBOUND_ROUTES: readonly InboundRoute[] = [
  {
    path: "/webhooks/custom/{companyId}/{path}",
    operationId: "receiveCustomEvent",
    summary: "Start the workflows whose webhook trigger has this path",
    description:
      "The event is stored, then every active workflow of the company whose webhook trigger has this path is started with the body as its input. Nothing is signed: whoever knows the path may start them, so it is the secret. A body that is no JSON reaches the workflow as `{rawBody}`. With `Idempotency-Key` or `X-Event-Id` a repeat starts nothing and is answered like the first.",
    headers: [
      signature("Idempotency-Key", false, "order-4711", "The event's id: repeats start nothing."),
      signature("X-Event-Id", false, "order-4711", "As `Idempotency-Key`."),
    ],
    receipt: "InboundReceipt",
    example: { order: "4711", reason: "wrong size" },
    errors: ["InboundUnreadable", "InboundNoCompany", "InboundCompressed", "InboundFailed"],
    anyBody: true,
  },
  {
    path: "/webhooks/stripe",
    operationId: "receiveStripeEvent",
    summary: "Take an event of Stripe, connected accounts included",
    description:
      "The connected account in `account` decides whose event it is; one of no connected account is stored and starts nothing. Where the installation has a secret of Stripe, the signature has to be good. An event id that came before starts nothing.",
    headers: [
      signature(
        "Stripe-Signature",
        true,
        "t=1769846402,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
      ),
    ],
    receipt: "InboundReceipt",
    example: {
      id: "evt_1SqY2bK3xR",
      type: "payment_intent.succeeded",
      account: "acct_1SqXyz",
      data: { object: { id: "pi_3SqY2a", amount: 12950, currency: "eur" } },
    },
    errors: ["InboundNoJson", "InboundUnsigned", "InboundWrongType", "InboundFailed"],
  },
  {
    path: "/webhooks/resend",
    operationId: "receiveResendEvent",
    summary: "Take an e-mail that came in at Resend",
    description:
      "The recipients' addresses and domains decide whose event it is; one of no connected account is stored and starts nothing. Where the installation has a secret of Resend, the signature has to be good. A message id that came before starts nothing.",
    headers: [
      signature("svix-id", true, "msg_2b3c"),
      signature("svix-timestamp", true, "1769846402"),
      signature("svix-signature", true, "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
    ],
    receipt: "InboundReceipt",
    example: {
      type: "email.received",
      created_at: "2026-01-26T14:57:03.000Z",
      data: { email_id: "56761188", to: ["orders@acme.example"], subject: "Order 4711" },
    },
    errors: ["InboundNoJson", "InboundUnsigned", "InboundWrongType", "InboundFailed"],
  },
  {
    path: "/webhooks/nango",
    operationId: "receiveBrokerEvent",
    summary: "Take an event of the OAuth broker",
    description:
      "For the broker alone. It tells how an authorization went (the connection becomes active or error), that an account was synchronised, and what a provider has sent. Nothing is taken without the broker's signature.",
    headers: [
      signature(
        "X-Nango-Hmac-Sha256",
        true,
        "5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
      ),
    ],
    receipt: "InboundReceipt",
    example: {
      type: "auth",
      operation: "creation",
      success: true,
      connectionId: "0d3f6c1e",
      providerConfigKey: "google-mail",
    },
    errors: [
      "InboundInvalid",
      "InboundUnsigned",
      "InboundCompressed",
      "InboundNoSecret",
      "InboundUpstreamFailed",
    ],
  },
  {
    path: "/webhooks/{provider}",
    operationId: "receiveProviderEvent",
    summary: "Take events of Airwallex, HubSpot or the finance application",
    description:
      "Each provider signs in its own way, and a body may hold several events. The connected account decides whose event it is; one of no connected account starts nothing. `count` says how many runs were started.",
    headers: [],
    receipt: "InboundCount",
    example: {
      id: "evt_HKhN6TkZ",
      name: "payment.settled",
      account_id: "acct_HKhN6",
      data: { object: { amount: 129.5, currency: "EUR" } },
    },
    errors: [
      "InboundInvalid",
      "InboundUnsigned",
      "InboundNoProvider",
      "InboundCompressed",
      "InboundUnverified",
    ],
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

/** An error, as a sender sees it. */
export interface InboundError {
  status: number;
  description: string;
  example: string;
  /** Whether the answer has `Retry-After`. */
  waits?: boolean;
}

/** Every error, by the name of its component. */
export const INBOUND_ERRORS = {
  InboundUnreadable: {
    status: 400,
    description:
      "The body is no UTF-8 or has NUL characters, or the event's id has none or more than 255 characters. Do not send it again.",
    example: "The request body is not valid UTF-8.",
  },
  InboundNoJson: {
    status: 400,
    description: "The body is no JSON object. Do not send it again.",
    example: "Invalid JSON",
  },
  InboundInvalid: {
    status: 400,
    description: "The body is none of the sender's events. Do not send it again.",
    example: "Invalid payload",
  },
  InboundUnsigned: {
    status: 401,
    description:
      "The signature is missing, wrong, or too old. The event is kept for the record and starts nothing.",
    example: "Invalid signature",
  },
  InboundNoCompany: {
    status: 404,
    description: "There is no such company, or the path is none that a workflow can wait for.",
    example: "Company not found",
  },
  InboundNoProvider: {
    status: 404,
    description: "There is no such provider.",
    example: "Unknown provider: acme",
  },
  InboundTooLarge: {
    status: 413,
    description: "The body has more than 1 MiB.",
    example: "The request body must be at most 1048576 bytes.",
  },
  InboundCompressed: {
    status: 415,
    description: "The body is compressed.",
    example: "The request body must not be compressed.",
  },
  InboundWrongType: {
    status: 415,
    description: "The body is not said to be JSON, or is compressed.",
    example: "The Content-Type must be application/json.",
  },
  InboundTooMany: {
    status: 429,
    waits: true,
    description:
      "Too many came from one address, too many are under way, or too many wait for their workflows.",
    example: "Rate limit exceeded. Limit: 10000 requests per minute.",
  },
  InboundHeadersTooLarge: {
    status: 431,
    description: "The address and the headers are too large.",
    example: "The request's address and headers must be at most 32768 bytes in all.",
  },
  InboundFailed: {
    status: 500,
    description: "A fault of ours. Send the event again.",
    example: "An internal error occurred.",
  },
  InboundUnverified: {
    status: 500,
    description: "The signature could not be looked at, for a fault of ours. Send the event again.",
    example: "Verification error",
  },
  InboundNoSecret: {
    status: 500,
    description:
      "The installation has no secret of the broker, so nothing is taken; or a fault of ours.",
    example: "NANGO_WEBHOOK_SECRET is not set",
  },
  InboundUpstreamFailed: {
    status: 502,
    description: "The provider or the broker could not be asked about the account. Send it again.",
    example: "The provider could not be reached.",
  },
  InboundAway: {
    status: 503,
    waits: true,
    description: "We are away or too busy. Send the event again.",
    example: "The webhooks service cannot be reached. Send the event again.",
  },
  InboundTooSlow: {
    status: 504,
    description: "We were too slow. Send the event again.",
    example: "The webhooks service did not answer in time. Send the event again.",
  },
} as const satisfies Record<string, InboundError>;

/** The name of an error's component. */
export type InboundErrorName = keyof typeof INBOUND_ERRORS;

/** The errors of every one of these routes. */
export const ERRORS_OF_ALL: readonly InboundErrorName[] = [
  "InboundTooLarge",
  "InboundTooMany",
  "InboundHeadersTooLarge",
  "InboundAway",
  "InboundTooSlow",
];

function signature(
  name: string,
  required: boolean,
  example: string,
  description = "The sender's signature.",
): oas31.ParameterObject {
  // An installation without a secret verifies nothing, so no header is required everywhere.
  const words = required
    ? `${description} Needed when the installation has its secret.`
    : description;
  return { name, in: "header", description: words, schema: { type: "string" }, example };
}
