import { z } from "zod";
import { choice, flag, json, list, number, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import {
  A_DATE,
  ADDRESS,
  amount,
  exchange,
  externalReferences,
  fieldAssignment,
  pagesOf,
  period,
  subsidiaryId,
  updatedAfter,
} from "./fields.ts";

export const createCustomer: ActionManifest = {
  name: "createCustomer",
  title: "Create a customer",
  description: "Creates a customer, to whom contracts and invoices can be made out.",
  docs: "https://docs.api.rillet.com/reference/create-a-customer",
  inputs: [
    text("name", { required: true }),
    text("name_on_invoice"),
    list("emails", {
      of: z.strictObject({ email: z.email(), type: z.enum(["MAIN_SENDER", "CC", "BCC"]) }),
      description: "Where invoices go: email and type (MAIN_SENDER, CC or BCC) each",
    }),
    json("address", ADDRESS),
    json("shipping_address", ADDRESS),
    number("payment_terms", { schema: z.int().min(0), description: "Days until payment is due" }),
    flag("send_invoices_automatically", { description: "By e-mail, on the invoice's date" }),
    flag("send_payment_reminders", { description: "By e-mail, while an invoice is unpaid" }),
    externalReferences,
    list("fields", { of: fieldAssignment, description: "field_id and field_value_id each" }),
  ],
  outputs: ["id", "name", "name_on_invoice", "emails", "address", "payment_terms", "updated_at"],
  request: { method: "POST", path: "/customers" },
  example: {
    name: "Ada Lovelace Ltd",
    emails: [{ email: "ada@example.com", type: "MAIN_SENDER" }],
    payment_terms: 30,
  },
};

export const listCustomers: ActionManifest = {
  name: "listCustomers",
  title: "List customers",
  description: "Lists customers, the newest first.",
  docs: "https://docs.api.rillet.com/reference/list-all-customers",
  inputs: [
    text("search", { description: "A name" }),
    updatedAfter,
    choice("sort_by", [
      { id: "created", label: "The newest first" },
      { id: "updated", label: "The last changed first" },
    ]),
  ],
  outputs: ["customers", "hasMore"],
  request: { method: "GET", path: "/customers" },
  paging: pagesOf("customers"),
  readOnly: true,
  example: { search: "Lovelace" },
};

const invoiceItem = z.strictObject({
  description: z.string(),
  price: z.strictObject({
    product_id: z.guid(),
    quantity: z.number(),
    amount_per_unit: amount,
    discount: z
      .union([
        z.strictObject({ type: z.literal("AMOUNT"), amount_off: amount }),
        z.strictObject({
          type: z.literal("PERCENTAGE"),
          percentage_off: z.number().min(0).max(100),
        }),
      ])
      .optional(),
  }),
  revenue: z
    .strictObject({
      period: period.optional(),
      pattern: z.enum(["DAILY", "EVEN_PERIOD"]).optional(),
      account_code: z.string().optional(),
    })
    .optional(),
  tax_rate: z.record(z.string(), z.unknown()).optional(),
  fields: z.array(fieldAssignment).optional(),
});

export const createInvoice: ActionManifest = {
  name: "createInvoice",
  title: "Create an invoice",
  description: "Creates an invoice that Rillet numbers and sends (scope FULL).",
  docs: "https://docs.api.rillet.com/reference/create-an-invoice",
  inputs: [
    text("customer_id", { title: "Customer", schema: z.guid(), required: true }),
    text("invoice_date", { ...A_DATE, required: true }),
    text("due_date", { ...A_DATE, description: "The invoice's date where it is not given" }),
    json("items", {
      schema: z.array(invoiceItem).min(1),
      required: true,
      description:
        "description and price (product_id, quantity, amount_per_unit with amount and currency) each",
    }),
    text("memo", { control: "long-input" }),
    text("purchase_order_number"),
    text("bank_account_id", {
      title: "Bank account",
      schema: z.guid(),
      description: "Id of the account that the invoice names",
    }),
    subsidiaryId,
    exchange,
    externalReferences,
  ],
  outputs: [
    "id",
    "invoice_number",
    "customer_id",
    "status",
    "invoice_date",
    "due_date",
    "items",
    "subtotal",
    "total",
    "amount_due",
    "updated_at",
  ],
  request: {
    method: "POST",
    path: "/invoices",
    build: ({ parts }) => ({ ...parts, body: { scope: "FULL", ...Object(parts.body) } }),
  },
  example: {
    customer_id: "5c6c0f9e-3e0f-4b0e-9a51-0a3c1f6f2b11",
    invoice_date: "2026-01-31",
    items: [
      {
        description: "Platform, January",
        price: {
          product_id: "0b8c9a9e-27a1-4f59-8d9f-1f5a2f2a7c10",
          quantity: 1,
          amount_per_unit: { amount: "1200.00", currency: "USD" },
        },
      },
    ],
  },
};

export const listInvoices: ActionManifest = {
  name: "listInvoices",
  title: "List invoices",
  description: "Lists invoices, the newest first.",
  docs: "https://docs.api.rillet.com/reference/list-all-invoices",
  inputs: [
    text("customer_id", { title: "Customer", schema: z.guid() }),
    choice("status", [
      { id: "UNPAID", label: "Unpaid" },
      { id: "PAID", label: "Paid" },
      { id: "PARTIALLY_PAID", label: "Partially paid" },
      { id: "UNBILLED", label: "Unbilled" },
      { id: "CREDITED", label: "Credited" },
      { id: "PARTIALLY_CREDITED", label: "Partially credited" },
    ]),
    flag("overdue", { description: "Only those that are overdue" }),
    subsidiaryId,
    updatedAfter,
  ],
  outputs: ["invoices", "hasMore"],
  request: { method: "GET", path: "/invoices" },
  paging: pagesOf("invoices"),
  readOnly: true,
  example: { status: "UNPAID", overdue: true },
};
