import type { ActionCase, Exchange } from "../action-case.ts";

function refusal(
  what: string,
  answer: Exchange["answer"],
  failure: NonNullable<ActionCase["failure"]>,
): ActionCase {
  const request = { method: "GET", path: "/v1/customers/cus_1" };
  return {
    action: "getCustomer",
    what,
    inputs: { customer: "cus_1" },
    exchanges: [{ request, answer }],
    failure,
  };
}

/** Stripe's refusals of any call: rate limits, outages and invalid keys. */
export const stripeRefusals: readonly ActionCase[] = [
  refusal(
    "too often",
    {
      status: 429,
      headers: { "retry-after": "2" },
      body: { error: { code: "rate_limit", message: "Too fast.", type: "api_error" } },
    },
    {
      status: 429,
      code: "rate_limit",
      message: "Too fast.",
      retryable: true,
      limited: true,
      retryAfterMs: 2_000,
    },
  ),
  refusal(
    "while another call holds the object, for which no other call has to wait",
    {
      status: 429,
      headers: { "stripe-should-retry": "true" },
      body: {
        error: {
          code: "lock_timeout",
          message: "This object cannot be accessed right now.",
          type: "invalid_request_error",
        },
      },
    },
    {
      status: 429,
      code: "lock_timeout",
      message: "This object cannot be accessed right now.",
      retryable: true,
      limited: false,
      badCredentials: false,
    },
  ),
  refusal(
    "with a key that is none",
    {
      status: 401,
      body: { error: { message: "Invalid API Key provided", type: "invalid_request_error" } },
    },
    {
      status: 401,
      code: "invalid_request_error",
      message: "Invalid API Key provided",
      retryable: false,
      badCredentials: true,
    },
  ),
  refusal(
    "while Stripe is down",
    { status: 503 },
    { status: 503, code: null, message: "The provider answered 503.", retryable: true },
  ),
];
