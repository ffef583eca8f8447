import type { ActionCase, ProviderCases } from "./action-case.ts";
import { stripeRefusals } from "./stripe-refusals.ts";

/** A list of two pages: the last id of the first is sent back, until has_more is false. */
function pagesOf(
  action: string,
  path: string,
  { inputs, query, member }: { inputs: object; query: Record<string, string>; member: string },
): ActionCase {
  return {
    action,
    what: "page by page",
    inputs: { ...inputs, limit: 150 },
    exchanges: [
      {
        request: { method: "GET", path, query: { ...query, limit: "100" } },
        answer: { body: { object: "list", data: [{ id: "x1" }, { id: "x2" }], has_more: true } },
      },
      {
        request: { method: "GET", path, query: { ...query, limit: "100", starting_after: "x2" } },
        answer: { body: { object: "list", data: [{ id: "x3" }], has_more: false } },
      },
    ],
    output: { [member]: [{ id: "x1" }, { id: "x2" }, { id: "x3" }], hasMore: false },
  };
}

export const stripeCases: ProviderCases = {
  provider: "stripe",
  fields: { accountId: "acct_1032D82eZvKYlo2C" },
  credentials: { accessToken: "sk_test_canary" },
  signature: {
    headers: { authorization: "Bearer sk_test_canary", "stripe-version": "2026-10-28.endive" },
  },
  cases: [
    {
      action: "createCustomer",
      inputs: { email: "ada@example.com", metadata: { order: "17" } },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/v1/customers",
            form: { email: "ada@example.com", "metadata[order]": "17" },
          },
          answer: { body: { id: "cus_1", object: "customer", email: "ada@example.com" } },
        },
      ],
      output: { id: "cus_1", object: "customer", email: "ada@example.com" },
    },
    {
      action: "createCustomer",
      what: "with an address that Stripe refuses",
      inputs: { email: "nobody" },
      exchanges: [
        {
          request: { method: "POST", path: "/v1/customers", form: { email: "nobody" } },
          answer: {
            status: 400,
            body: {
              error: {
                code: "email_invalid",
                message: "Invalid email address: nobody",
                type: "invalid_request_error",
              },
            },
          },
        },
      ],
      failure: {
        status: 400,
        code: "email_invalid",
        message: "Invalid email address: nobody",
        retryable: false,
      },
    },
    {
      action: "getCustomer",
      inputs: { customer: "cus_1/x" },
      exchanges: [
        {
          request: { method: "GET", path: "/v1/customers/cus_1%2Fx" },
          answer: { body: { id: "cus_1" } },
        },
      ],
      output: { id: "cus_1" },
    },
    {
      action: "listCharges",
      inputs: { customer: "cus_1", limit: 3 },
      exchanges: [
        {
          request: {
            method: "GET",
            path: "/v1/charges",
            query: { customer: "cus_1", limit: "3" },
          },
          answer: { body: { data: [{ id: "ch_3" }, { id: "ch_2" }], has_more: true } },
        },
        {
          request: {
            method: "GET",
            path: "/v1/charges",
            query: { customer: "cus_1", limit: "1", starting_after: "ch_2" },
          },
          answer: { body: { data: [{ id: "ch_1" }], has_more: true } },
        },
      ],
      output: { charges: [{ id: "ch_3" }, { id: "ch_2" }, { id: "ch_1" }], hasMore: true },
    },
    {
      action: "updateCustomer",
      inputs: { customer: "cus_1", address: { line1: "Main St 1", country: "US" } },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/v1/customers/cus_1",
            form: { "address[line1]": "Main St 1", "address[country]": "US" },
          },
          answer: { body: { id: "cus_1", object: "customer" } },
        },
      ],
      output: { id: "cus_1", object: "customer" },
    },
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
    ...[
      { payment_method_types: ["card"] },
      { allowed_payment_method_types: [] },
      {
        allowed_payment_method_types: ["card"],
        automatic_payment_methods: { enabled: true },
      },
    ].map((inputs) => ({
      action: "createPaymentIntent",
      what: `whose methods would be others: ${JSON.stringify(inputs)}`,
      inputs: { amount: 1099, currency: "usd", ...inputs },
      exchanges: [],
      refused: Object.keys(inputs)[0] ?? "",
    })),
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
    {
      action: "createInvoiceItem",
      inputs: { customer: "cus_1", invoice: "in_1", price: "price_1", quantity: 2 },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/v1/invoiceitems",
            form: {
              customer: "cus_1",
              invoice: "in_1",
              "pricing[price]": "price_1",
              quantity: "2",
            },
          },
          answer: { body: { id: "ii_1", object: "invoiceitem" } },
        },
      ],
      output: { id: "ii_1", object: "invoiceitem" },
    },
    {
      action: "createInvoiceItem",
      what: "with neither a price nor a currency",
      inputs: { customer: "cus_1", amount: 4900 },
      exchanges: [],
      refused: "currency",
    },
    {
      action: "createInvoice",
      inputs: { customer: "cus_1", collection_method: "send_invoice", days_until_due: 30 },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/v1/invoices",
            form: {
              customer: "cus_1",
              collection_method: "send_invoice",
              days_until_due: "30",
            },
          },
          answer: { body: { id: "in_1", object: "invoice", status: "draft" } },
        },
      ],
      output: { id: "in_1", object: "invoice", status: "draft" },
    },
    {
      action: "createInvoice",
      what: "to be sent without a day on which it is due",
      inputs: { customer: "cus_1", collection_method: "send_invoice" },
      exchanges: [],
      refused: "days_until_due",
    },
    {
      action: "finalizeInvoice",
      inputs: { invoice: "in_1/../../refunds?amount=1", auto_advance: false },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/v1/invoices/in_1%2F..%2F..%2Frefunds%3Famount%3D1/finalize",
            form: { auto_advance: "false" },
          },
          answer: { body: { id: "in_1", object: "invoice", status: "open" } },
        },
      ],
      output: { id: "in_1", object: "invoice", status: "open" },
    },
    {
      action: "createSubscription",
      inputs: {
        customer: "cus_1",
        items: [{ price: "price_1", quantity: 2 }, { price: "price_2" }],
        trial_period_days: 14,
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/v1/subscriptions",
            form: {
              customer: "cus_1",
              "items[0][price]": "price_1",
              "items[0][quantity]": "2",
              "items[1][price]": "price_2",
              trial_period_days: "14",
            },
          },
          answer: { body: { id: "sub_1", object: "subscription", status: "trialing" } },
        },
      ],
      output: { id: "sub_1", object: "subscription", status: "trialing" },
    },
    {
      action: "cancelSubscription",
      inputs: { subscription: "sub_1", prorate: true, cancellation_feedback: "too_expensive" },
      exchanges: [
        {
          request: {
            method: "DELETE",
            path: "/v1/subscriptions/sub_1",
            query: { prorate: "true", "cancellation_details[feedback]": "too_expensive" },
          },
          answer: { body: { id: "sub_1", object: "subscription", status: "canceled" } },
        },
      ],
      output: { id: "sub_1", object: "subscription", status: "canceled" },
    },
    pagesOf("listCustomers", "/v1/customers", {
      inputs: { email: "ada@example.com", created_gte: 1767225600 },
      query: { email: "ada@example.com", "created[gte]": "1767225600" },
      member: "customers",
    }),
    pagesOf("listInvoices", "/v1/invoices", {
      inputs: { status: "open" },
      query: { status: "open" },
      member: "invoices",
    }),
    pagesOf("listPayouts", "/v1/payouts", {
      inputs: { status: "paid" },
      query: { status: "paid" },
      member: "payouts",
    }),
    pagesOf("listBalanceTransactions", "/v1/balance_transactions", {
      inputs: { payout: "po_1" },
      query: { payout: "po_1" },
      member: "balance_transactions",
    }),
    ...stripeRefusals,
  ],
};
