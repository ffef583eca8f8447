import { z } from "zod";
import { choice, flag, json, number, text } from "../../action-input.ts";
import type { ActionInput } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import {
  amount,
  createdRange,
  currency,
  description,
  id,
  metadata,
  stripePages,
  time,
} from "./inputs.ts";

const INVOICE_OUTPUTS = [
  "id",
  "object",
  "amount_due",
  "amount_paid",
  "amount_remaining",
  "collection_method",
  "created",
  "currency",
  "customer",
  "customer_email",
  "due_date",
  "hosted_invoice_url",
  "invoice_pdf",
  "lines",
  "metadata",
  "number",
  "parent",
  "status",
  "subtotal",
  "total",
];

const collectionMethod: ActionInput = choice("collection_method", [
  { id: "charge_automatically", label: "Charge automatically" },
  { id: "send_invoice", label: "Send an invoice" },
]);

const isSent = { field: "collection_method", value: "send_invoice" } as const;

const createInvoiceItem: ActionManifest = {
  name: "createInvoiceItem",
  title: "Add an item to an invoice",
  description: "Puts a line on a draft invoice, or on the customer's next one.",
  docs: "https://docs.stripe.com/api/invoiceitems/create",
  inputs: [
    id("customer", "cus", { required: true }),
    id("invoice", "in"),
    id("price", "price", { as: "pricing.price" }),
    number("quantity", {
      schema: z.int().min(0),
      onlyWith: "price",
    }),
    amount({
      schema: z.int(),
      description: "In the smallest unit; below zero it is a credit",
      requiredWithout: ["price"],
      notWith: ["price"],
    }),
    currency({ requiredWithout: ["price"], notWith: ["price"] }),
    description,
    metadata,
  ],
  outputs: [
    "id",
    "object",
    "amount",
    "currency",
    "customer",
    "date",
    "description",
    "invoice",
    "metadata",
    "period",
    "pricing",
    "proration",
    "quantity",
  ],
  request: { method: "POST", path: "/v1/invoiceitems" },
  example: { customer: "cus_NffrFeUfNV2Hib", amount: 4900, currency: "usd", description: "Setup" },
};

const createInvoice: ActionManifest = {
  name: "createInvoice",
  title: "Create an invoice",
  description: "Drafts an invoice.",
  docs: "https://docs.stripe.com/api/invoices/create",
  inputs: [
    id("customer", "cus", { required: true }),
    collectionMethod,
    number("days_until_due", {
      schema: z.int().min(0),
      visibleWhen: isSent,
      requiredWithout: ["due_date"],
      notWith: ["due_date"],
    }),
    time("due_date", { visibleWhen: isSent }),
    flag("auto_advance", { description: "Finalizes and collects without further calls" }),
    choice("pending_invoice_items_behavior", [
      { id: "include", label: "Include pending items" },
      { id: "exclude", label: "Leave pending items out" },
    ]),
    currency(),
    description,
    text("footer", { control: "long-input" }),
    metadata,
  ],
  outputs: INVOICE_OUTPUTS,
  request: { method: "POST", path: "/v1/invoices" },
  example: {
    customer: "cus_NffrFeUfNV2Hib",
    collection_method: "send_invoice",
    days_until_due: 30,
    pending_invoice_items_behavior: "include",
  },
};

const finalizeInvoice: ActionManifest = {
  name: "finalizeInvoice",
  title: "Finalize an invoice",
  description: "Closes a draft invoice, so that it can be paid.",
  docs: "https://docs.stripe.com/api/invoices/finalize",
  inputs: [
    id("invoice", "in", { required: true }),
    flag("auto_advance", { description: "Collects or sends it without further calls" }),
  ],
  outputs: INVOICE_OUTPUTS,
  request: { method: "POST", path: "/v1/invoices/{invoice}/finalize" },
  example: { invoice: "in_1MtHbELkdIwHu7ixl4OzzPMv", auto_advance: true },
};

const listInvoices: ActionManifest = {
  name: "listInvoices",
  title: "List invoices",
  description: "Lists invoices, the newest first.",
  docs: "https://docs.stripe.com/api/invoices/list",
  inputs: [
    id("customer", "cus"),
    id("subscription", "sub"),
    choice("status", ["draft", "open", "paid", "uncollectible", "void"]),
    collectionMethod,
    ...createdRange,
  ],
  outputs: ["invoices", "hasMore"],
  request: { method: "GET", path: "/v1/invoices" },
  paging: stripePages("invoices"),
  readOnly: true,
  example: { status: "open" },
};

const SUBSCRIPTION_OUTPUTS = [
  "id",
  "object",
  "cancel_at",
  "cancel_at_period_end",
  "canceled_at",
  "collection_method",
  "created",
  "currency",
  "customer",
  "ended_at",
  "items",
  "latest_invoice",
  "metadata",
  "start_date",
  "status",
  "trial_end",
];

const createSubscription: ActionManifest = {
  name: "createSubscription",
  title: "Create a subscription",
  description: "Subscribes a customer to prices.",
  docs: "https://docs.stripe.com/api/subscriptions/create",
  inputs: [
    id("customer", "cus", { required: true }),
    json("items", {
      description: "Up to 20: [{price, quantity}]",
      required: true,
      schema: z
        .array(z.looseObject({ price: z.string().optional(), quantity: z.int().min(0).optional() }))
        .min(1)
        .max(20),
    }),
    id("default_payment_method", "pm"),
    collectionMethod,
    number("days_until_due", { schema: z.int().min(0), visibleWhen: isSent, required: true }),
    number("trial_period_days", { schema: z.int().min(1).max(730) }),
    flag("cancel_at_period_end"),
    choice("payment_behavior", [
      "allow_incomplete",
      "default_incomplete",
      "error_if_incomplete",
      "pending_if_incomplete",
    ]),
    description,
    metadata,
  ],
  outputs: SUBSCRIPTION_OUTPUTS,
  request: { method: "POST", path: "/v1/subscriptions" },
  example: {
    customer: "cus_NffrFeUfNV2Hib",
    items: [{ price: "price_1MowQULkdIwHu7ixraBm864M", quantity: 1 }],
  },
};

const cancelSubscription: ActionManifest = {
  name: "cancelSubscription",
  title: "Cancel a subscription",
  description: "Ends a subscription at once.",
  docs: "https://docs.stripe.com/api/subscriptions/cancel",
  inputs: [
    id("subscription", "sub", { required: true }),
    flag("invoice_now", { description: "Invoices what is not invoiced yet" }),
    flag("prorate", { description: "Credits the time that is not used" }),
    text("cancellation_comment", {
      as: "cancellation_details[comment]",
      control: "long-input",
    }),
    choice(
      "cancellation_feedback",
      [
        "customer_service",
        "low_quality",
        "missing_features",
        "other",
        "switched_service",
        "too_complex",
        "too_expensive",
        "unused",
      ],
      { as: "cancellation_details[feedback]" },
    ),
  ],
  outputs: SUBSCRIPTION_OUTPUTS,
  request: { method: "DELETE", path: "/v1/subscriptions/{subscription}" },
  example: { subscription: "sub_1MlPf9LkdIwHu7ixB6VIYRyX", prorate: true },
};

export const billingActions = [
  createInvoiceItem,
  createInvoice,
  finalizeInvoice,
  listInvoices,
  createSubscription,
  cancelSubscription,
];
