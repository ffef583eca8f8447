import type { oas31, ZodOpenApiPathsObject } from "zod-openapi";

/** A type of event for endpoints, as the webhooks service declares it. */
export interface WebhookEventType {
  readonly type: string;
  readonly description: string;
  /** JSON Schema (2020-12) of the body of its deliveries. */
  readonly schema: oas31.SchemaObject;
  readonly example: unknown;
}

/** The headers of every delivery (D46, D48). */
const DELIVERY_HEADERS: readonly oas31.ParameterObject[] = [
  header(
    "X-Webhook-ID",
    "The event's id, the same on each retry.",
    "evt_01kg9d1m3cexw9f1c3f4r7m2qa",
  ),
  header("X-Webhook-Timestamp", "When it was sent, in seconds since 1970.", "1769846402"),
  header(
    "X-Webhook-Signature",
    "`t=` the time and, for each secret, `v1=` the hex HMAC-SHA256 of `<time>.<body>`, keyed by the endpoint's secret.",
    "t=1769846402,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd",
  ),
  header(
    "webhook-id",
    "As `X-Webhook-ID`, for libraries of Standard Webhooks.",
    "evt_01kg9d1m3cexw9f1c3f4r7m2qa",
  ),
  header("webhook-timestamp", "As `X-Webhook-Timestamp`.", "1769846402"),
  header(
    "webhook-signature",
    "`v1,` and the base64 signature of Standard Webhooks, several with spaces between them.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
];

/** The requests that the service sends to the endpoints of a company. */
export function webhooksOf(types: readonly WebhookEventType[]): ZodOpenApiPathsObject {
  return Object.fromEntries(types.map((each) => [each.type, { post: toOperation(each) }]));
}

function toOperation({ type, description, schema, example }: WebhookEventType) {
  return {
    operationId: `on${type.split(/[._]/).map(capitalized).join("")}`,
    tags: ["Webhook endpoints"],
    summary: description.replace(/\.$/, ""),
    description:
      "Sent to each endpoint that hears of the type and the workflow. Verify the signature against the body as it came. What is not answered with a 2xx within 15 s is sent again, eight times in all.",
    security: [],
    parameters: [...DELIVERY_HEADERS],
    requestBody: { required: true, content: { "application/json": { schema, example } } },
    responses: {
      "2XX": { description: "Received. The body of the answer does not matter." },
      "410": { description: "Nobody wants events here any more: the endpoint is disabled." },
      "4XX": { description: "Failed, and sent again later, as after any other answer or none." },
    },
  };
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function header(name: string, description: string, example: string): oas31.ParameterObject {
  return { name, in: "header", required: true, description, schema: { type: "string" }, example };
}
