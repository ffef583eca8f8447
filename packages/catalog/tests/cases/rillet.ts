import type { ActionCase, ProviderCases } from "./action-case.ts";

const CUSTOMER = "5c6c0f9e-3e0f-4b0e-9a51-0a3c1f6f2b11";
const PRODUCT = "0b8c9a9e-27a1-4f59-8d9f-1f5a2f2a7c10";
const VENDOR = "1f0c9d5e-64f7-4a0e-9e44-52d3c41c9d20";
const usd = (amount: string) => ({ amount, currency: "USD" });

const receivables: readonly ActionCase[] = [
  {
    action: "createCustomer",
    inputs: {
      name: "Ada Ltd",
      emails: [{ email: "ada@example.com", type: "MAIN_SENDER" }],
      address: {
        line1: "1 Main St",
        city: "Nashville",
        state: "TN",
        zip_code: "37201",
        country: "US",
      },
      payment_terms: 0,
      send_payment_reminders: false,
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/customers",
          json: {
            name: "Ada Ltd",
            emails: [{ email: "ada@example.com", type: "MAIN_SENDER" }],
            address: {
              line1: "1 Main St",
              city: "Nashville",
              state: "TN",
              zip_code: "37201",
              country: "US",
            },
            payment_terms: 0,
            send_payment_reminders: false,
          },
        },
        answer: { body: { id: CUSTOMER, name: "Ada Ltd", updated_at: "2026-01-31T00:00:00Z" } },
      },
    ],
    output: { id: CUSTOMER, name: "Ada Ltd", updated_at: "2026-01-31T00:00:00Z" },
  },
  {
    action: "listCustomers",
    what: "over two pages, the second without a cursor",
    inputs: {
      search: "Ada",
      updated_after: "2026-01-01T00:00:00Z",
      sort_by: "updated",
      limit: 120,
    },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/customers",
          query: {
            search: "Ada",
            "updated.gt": "2026-01-01T00:00:00Z",
            sort_by: "updated",
            limit: "100",
          },
        },
        answer: { body: { customers: [{ id: "1" }], pagination: { next_cursor: "iLQvkEj3" } } },
      },
      {
        request: {
          method: "GET",
          path: "/customers",
          query: {
            search: "Ada",
            "updated.gt": "2026-01-01T00:00:00Z",
            sort_by: "updated",
            limit: "100",
            cursor: "iLQvkEj3",
          },
        },
        answer: { body: { customers: [{ id: "2" }], pagination: {} } },
      },
    ],
    output: { customers: [{ id: "1" }, { id: "2" }], hasMore: false },
  },
  {
    action: "createInvoice",
    inputs: {
      customer_id: CUSTOMER,
      invoice_date: "2026-01-31",
      due_date: "2026-03-02",
      memo: "Thank you",
      items: [
        {
          description: "Platform",
          price: { product_id: PRODUCT, quantity: 2, amount_per_unit: usd("600.00") },
        },
      ],
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/invoices",
          json: {
            scope: "FULL",
            customer_id: CUSTOMER,
            invoice_date: "2026-01-31",
            due_date: "2026-03-02",
            memo: "Thank you",
            items: [
              {
                description: "Platform",
                price: { product_id: PRODUCT, quantity: 2, amount_per_unit: usd("600.00") },
              },
            ],
          },
        },
        answer: { body: { id: "inv", invoice_number: "INV01", total: usd("1200.00") } },
      },
    ],
    output: { id: "inv", invoice_number: "INV01", total: usd("1200.00") },
  },
  {
    action: "createInvoice",
    what: "with an amount that is no text",
    inputs: {
      customer_id: CUSTOMER,
      invoice_date: "2026-01-31",
      items: [
        {
          description: "Platform",
          price: {
            product_id: PRODUCT,
            quantity: 1,
            amount_per_unit: { amount: 600, currency: "USD" },
          },
        },
      ],
    },
    exchanges: [],
    refused: "items",
  },
  {
    action: "listInvoices",
    what: "over two pages",
    inputs: { subsidiary_id: CUSTOMER, limit: 2 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/invoices",
          query: { subsidiary_id: CUSTOMER, limit: "2" },
        },
        answer: { body: { invoices: [{ id: "1" }], pagination: { next_cursor: "c2" } } },
      },
      {
        request: {
          method: "GET",
          path: "/invoices",
          query: { subsidiary_id: CUSTOMER, limit: "1", cursor: "c2" },
        },
        answer: { body: { invoices: [{ id: "2" }], pagination: { next_cursor: "c3" } } },
      },
    ],
    output: { invoices: [{ id: "1" }, { id: "2" }], hasMore: true },
  },
  {
    action: "listInvoices",
    what: "with a limit within the first page",
    inputs: { customer_id: CUSTOMER, status: "UNPAID", overdue: true, limit: 1 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/invoices",
          query: { customer_id: CUSTOMER, status: "UNPAID", overdue: "true", limit: "1" },
        },
        answer: { body: { invoices: [{ id: "inv" }], pagination: { next_cursor: "next" } } },
      },
    ],
    output: { invoices: [{ id: "inv" }], hasMore: true },
  },
];

const bill = {
  vendor_id: VENDOR,
  expense_number: "B123",
  bill_date: "2026-01-31",
  due_date: "2026-03-02",
  items: [{ account_code: "61000", amount: usd("89.90"), description: "Paper" }],
};

const entry = {
  name: "Accrued rent",
  date: "2026-01-31",
  currency: "USD",
  items: [
    { account_code: "62000", side: "DEBIT", amount: usd("2500.00") },
    { account_code: "21000", side: "CREDIT", amount: usd("2500.00") },
  ],
};

const ledger: readonly ActionCase[] = [
  {
    action: "createBill",
    inputs: bill,
    exchanges: [
      {
        request: { method: "POST", path: "/bills", json: bill },
        answer: { body: { id: "bill", status: "UNPAID" } },
      },
    ],
    output: { id: "bill", status: "UNPAID" },
  },
  {
    action: "createJournalEntry",
    inputs: { ...entry, attachment_url: "https://files.example.com/rent.pdf" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/journal-entries",
          json: { ...entry, attachmentUrl: "https://files.example.com/rent.pdf" },
        },
        answer: { body: { id: "entry", name: "Accrued rent" } },
      },
    ],
    output: { id: "entry", name: "Accrued rent" },
  },
  {
    action: "createJournalEntry",
    what: "with one item",
    inputs: { ...entry, items: entry.items.slice(0, 1) },
    exchanges: [],
    refused: "items",
  },
];

const failures: readonly ActionCase[] = [
  {
    action: "createBill",
    what: "of a period that is closed",
    inputs: bill,
    exchanges: [
      {
        request: { method: "POST", path: "/bills", json: bill },
        answer: {
          status: 422,
          body: {
            type: "https://rillet.io/unprocessable-entity",
            title: "Unprocessable Entity",
            status: 422,
            detail: "The accounting period is closed.",
          },
        },
      },
    ],
    failure: {
      status: 422,
      code: "https://rillet.io/unprocessable-entity",
      message: "The accounting period is closed.",
      retryable: false,
      limited: false,
    },
  },
  {
    action: "listCustomers",
    what: "with a key that is no more",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/customers", query: { limit: "100" } },
        answer: {
          status: 401,
          body: { type: "https://rillet.io/unauthorized", title: "Unauthorized" },
        },
      },
    ],
    failure: {
      status: 401,
      code: "https://rillet.io/unauthorized",
      message: "Unauthorized",
      retryable: false,
      badCredentials: true,
    },
  },
  {
    action: "listInvoices",
    what: "for the 61st time in a minute",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/invoices", query: { limit: "100" } },
        answer: {
          status: 429,
          headers: { "retry-after": "12" },
          body: { title: "Too Many Requests" },
        },
      },
    ],
    failure: {
      status: 429,
      code: "Too Many Requests",
      message: "Too Many Requests",
      retryable: true,
      limited: true,
      retryAfterMs: 12_000,
    },
  },
];

export const rilletCases: ProviderCases = {
  provider: "rillet",
  fields: {},
  credentials: { apiKey: "rillet_canary" },
  signature: { headers: { authorization: "Bearer rillet_canary", "x-rillet-api-version": "4" } },
  cases: [...receivables, ...ledger, ...failures],
};
