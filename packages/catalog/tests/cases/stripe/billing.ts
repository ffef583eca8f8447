import type { ActionCase } from "../action-case.ts";

/** Invoices and subscriptions. */
export const billing: readonly ActionCase[] = [
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
];
