import type { ActionCase } from "../action-case.ts";

/** Payments and refunds. */
export const payments: readonly ActionCase[] = [
  {
    action: "createPaymentIntent",
    inputs: {
      amount: 1099,
      currency: "usd",
      customer: "cus_1",
      payment_method: "pm_1",
      confirm: true,
      off_session: true,
      automatic_payment_methods: { enabled: true, allow_redirects: "never" },
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/v1/payment_intents",
          form: {
            amount: "1099",
            currency: "usd",
            customer: "cus_1",
            payment_method: "pm_1",
            confirm: "true",
            off_session: "true",
            "automatic_payment_methods[enabled]": "true",
            "automatic_payment_methods[allow_redirects]": "never",
          },
        },
        answer: { body: { id: "pi_1", object: "payment_intent", status: "succeeded" } },
      },
    ],
    output: { id: "pi_1", object: "payment_intent", status: "succeeded" },
  },
  {
    action: "createPaymentIntent",
    what: "confirmed at once without a payment method",
    inputs: { amount: 1099, currency: "usd", confirm: true },
    exchanges: [],
    refused: "payment_method",
  },
  {
    action: "createPaymentIntent",
    what: "with a card that is declined",
    inputs: { amount: 1099, currency: "usd", allowed_payment_method_types: ["card"] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/v1/payment_intents",
          form: {
            amount: "1099",
            currency: "usd",
            "allowed_payment_method_types[0]": "card",
          },
        },
        answer: {
          status: 402,
          body: {
            error: {
              code: "card_declined",
              decline_code: "insufficient_funds",
              message: "Your card has insufficient funds.",
              type: "card_error",
            },
          },
        },
      },
    ],
    failure: {
      status: 402,
      code: "card_declined",
      message: "Your card has insufficient funds.",
      retryable: false,
      badCredentials: false,
    },
  },
  {
    action: "createRefund",
    inputs: { charge: "ch_1", amount: 500, reason: "requested_by_customer" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/v1/refunds",
          form: { charge: "ch_1", amount: "500", reason: "requested_by_customer" },
        },
        answer: { body: { id: "re_1", object: "refund", status: "succeeded" } },
      },
    ],
    output: { id: "re_1", object: "refund", status: "succeeded" },
  },
  {
    action: "createRefund",
    what: "of nothing",
    inputs: { amount: 500 },
    exchanges: [],
    refused: "payment_intent",
  },
];
