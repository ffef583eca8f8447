import { z } from "zod";
import { json, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import {
  A_DATE,
  amount,
  currencyCode,
  exchange,
  externalReferences,
  fieldAssignment,
  period,
  subsidiaryId,
} from "./fields.ts";

export const createBill: ActionManifest = {
  name: "createBill",
  title: "Create a bill",
  description: "Enters a vendor's bill as payable.",
  docs: "https://docs.api.rillet.com/reference/create-a-bill",
  inputs: [
    text("vendor_id", { title: "Vendor", schema: z.guid(), required: true }),
    text("expense_number", { required: true, description: "The vendor's number of the bill" }),
    text("bill_date", { ...A_DATE, required: true }),
    text("due_date", { ...A_DATE, required: true }),
    text("impact_date", { ...A_DATE, description: "When it counts in the books: 2026-01-31" }),
    json("items", {
      schema: z
        .array(
          z.strictObject({
            account_code: z.string().min(1),
            amount,
            description: z.string().optional(),
            tax_rate: z.record(z.string(), z.unknown()).optional(),
            service_period: period.optional(),
            fields: z.array(fieldAssignment).optional(),
          }),
        )
        .min(1),
      required: true,
      description: "account_code, amount (amount and currency) and description each",
    }),
    subsidiaryId,
    exchange,
    externalReferences,
  ],
  outputs: ["id", "status", "vendor_id", "expense_number", "bill_date", "due_date", "items"],
  request: { method: "POST", path: "/bills" },
  example: {
    vendor_id: "1f0c9d5e-64f7-4a0e-9e44-52d3c41c9d20",
    expense_number: "B123",
    bill_date: "2026-01-31",
    due_date: "2026-03-02",
    items: [{ account_code: "61000", amount: { amount: "89.90", currency: "USD" } }],
  },
};

const entryItem = z.strictObject({
  account_code: z.string().min(1),
  side: z.enum(["DEBIT", "CREDIT"]),
  amount,
  description: z.string().optional(),
  fields: z.array(fieldAssignment).optional(),
  vat_code: z.string().optional(),
  vat_type: z.string().optional(),
});

export const createJournalEntry: ActionManifest = {
  name: "createJournalEntry",
  title: "Create a journal entry",
  description: "Posts a journal entry, whose debits and credits have to balance.",
  docs: "https://docs.api.rillet.com/reference/create-a-journal-entry",
  inputs: [
    text("name", { required: true }),
    text("date", { ...A_DATE, required: true }),
    text("currency", { schema: currencyCode, required: true, description: "USD, for example" }),
    json("items", {
      schema: z.array(entryItem).min(2),
      required: true,
      description: "account_code, side (DEBIT or CREDIT) and amount (amount and currency) each",
    }),
    text("reversal_date", { ...A_DATE, description: "When it is reversed by itself: 2026-02-01" }),
    json("related_entity", {
      schema: z.strictObject({ id: z.guid(), type: z.enum(["CUSTOMER", "VENDOR"]) }),
      description: "id and type, which is CUSTOMER or VENDOR",
    }),
    text("attachment_url", { schema: z.url(), as: "attachmentUrl" }),
    subsidiaryId,
    exchange,
  ],
  outputs: ["id", "name", "date", "currency", "items", "reversal_date", "updated_at"],
  request: { method: "POST", path: "/journal-entries" },
  example: {
    name: "Accrued rent, January",
    date: "2026-01-31",
    currency: "USD",
    items: [
      { account_code: "62000", side: "DEBIT", amount: { amount: "2500.00", currency: "USD" } },
      { account_code: "21000", side: "CREDIT", amount: { amount: "2500.00", currency: "USD" } },
    ],
  },
};
