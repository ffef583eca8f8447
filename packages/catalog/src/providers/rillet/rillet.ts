import type { ProviderManifest } from "../../provider-manifest.ts";
import { createBill, createJournalEntry } from "./ledger.ts";
import { createCustomer, createInvoice, listCustomers, listInvoices } from "./receivables.ts";

/** Accounting; requests are of version 4 of its API. */
export const rillet: ProviderManifest = {
  id: "rillet",
  name: "Rillet",
  description: "Customers, invoices, bills and journal entries.",
  category: "accounting",
  docs: "https://docs.api.rillet.com/docs/getting-started",
  baseUrl: "https://api.rillet.com",
  auth: { kind: "apiKey", fields: [] },
  sign: { headers: { authorization: "Bearer {apiKey}" } },
  headers: { "x-rillet-api-version": "4" },
  idempotencyHeader: "Idempotency-Key",
  verify: { method: "GET", path: "/organizations/self", accountId: "id" },
  // Problem details of RFC 9457.
  errors: { code: ["type", "title"], message: ["detail", "title"] },
  actions: [
    createCustomer,
    listCustomers,
    createInvoice,
    listInvoices,
    createBill,
    createJournalEntry,
  ],
};
