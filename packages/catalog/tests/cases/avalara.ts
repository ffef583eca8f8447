import type { ActionCase, ProviderCases } from "./action-case.ts";

/** The code that the step's idempotency key gives, for a document without one. */
const CODE = "ec073151-d3c1-4e09-a2f1-20d949e634aa";
const TRANSACTIONS = "/api/v2/companies/DEFAULT/transactions";

const sale = {
  type: "SalesInvoice",
  code: "INV-17",
  date: "2026-01-31",
  customerCode: "ADA",
  lines: [{ number: "1", quantity: 1, amount: 100, itemCode: "Y0001" }],
  addresses: { singleLocation: { line1: "2000 Main Street", region: "CA", country: "US" } },
  commit: true,
};

const transactions: readonly ActionCase[] = [
  {
    action: "createTransaction",
    inputs: { ...sale, include: "Details" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v2/transactions/create",
          query: { $include: "Details" },
          json: { companyCode: "DEFAULT", ...sale },
        },
        answer: { status: 201, body: { id: 123, code: "INV-17", totalTax: 7.75 } },
      },
    ],
    output: { id: 123, code: "INV-17", totalTax: 7.75 },
  },
  {
    action: "createTransaction",
    what: "without a code and for another company",
    inputs: {
      date: "2026-01-31",
      customerCode: "ADA",
      companyCode: "WEST",
      lines: [{ amount: 100 }],
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v2/transactions/create",
          json: {
            code: CODE,
            companyCode: "WEST",
            date: "2026-01-31",
            customerCode: "ADA",
            lines: [{ amount: 100 }],
          },
        },
        answer: { status: 201, body: { id: 0, code: CODE } },
      },
    ],
    output: { id: 0, code: CODE },
  },
  {
    action: "getTransaction",
    inputs: { transactionCode: "INV-17", documentType: "ReturnInvoice", include: "Lines" },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${TRANSACTIONS}/INV-17`,
          query: { documentType: "ReturnInvoice", $include: "Lines" },
        },
        answer: { body: { id: 123, code: "INV-17" } },
      },
    ],
    output: { id: 123, code: "INV-17" },
  },
  {
    action: "getTransaction",
    what: "of a code that a path can't hold, in AvaTax' spelling",
    inputs: { transactionCode: "A/1+2?3%4#5 6", companyCode: "N/W" },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/api/v2/companies/N_-ava2f-_W/transactions/A_-ava2f-_1_-ava2b-_2_-ava3f-_3_-ava25-_4_-ava23-_5%206",
        },
        answer: { body: { id: 5 } },
      },
    ],
    output: { id: 5 },
  },
  {
    action: "getTransaction",
    what: "of a dot",
    inputs: { transactionCode: ".." },
    exchanges: [],
    refused: "transactionCode",
  },
  {
    action: "listTransactions",
    inputs: { filter: "date ge '2026-01-01' and status eq Committed", limit: 1000 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: TRANSACTIONS,
          query: {
            $filter: "date ge '2026-01-01' and status eq Committed",
            $orderBy: "id ASC",
            $top: "1000",
            $skip: "0",
          },
        },
        answer: { body: { "@recordsetCount": 3, value: [{ id: 1 }, { id: 2 }] } },
      },
      {
        request: {
          method: "GET",
          path: TRANSACTIONS,
          query: {
            $filter: "date ge '2026-01-01' and status eq Committed",
            $orderBy: "id ASC",
            $top: "998",
            $skip: "2",
          },
        },
        answer: { body: { "@recordsetCount": 3, value: [{ id: 3 }] } },
      },
    ],
    output: { transactions: [{ id: 1 }, { id: 2 }, { id: 3 }], hasMore: false },
  },
  {
    action: "commitTransaction",
    inputs: { transactionCode: "INV-17" },
    exchanges: [
      {
        request: { method: "POST", path: `${TRANSACTIONS}/INV-17/commit`, json: { commit: true } },
        answer: { body: { id: 123, status: "Committed" } },
      },
    ],
    output: { id: 123, status: "Committed" },
  },
  {
    action: "voidTransaction",
    inputs: { transactionCode: "INV-17", reason: "DocVoided", documentType: "SalesInvoice" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: `${TRANSACTIONS}/INV-17/void`,
          query: { documentType: "SalesInvoice" },
          json: { code: "DocVoided" },
        },
        answer: { body: { id: 123, status: "Cancelled" } },
      },
    ],
    output: { id: 123, status: "Cancelled" },
  },
  {
    action: "resolveAddress",
    inputs: { line1: "2000 Main Street", city: "Irvine", region: "CA", textCase: "Mixed" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v2/addresses/resolve",
          json: { line1: "2000 Main Street", city: "Irvine", region: "CA", textCase: "Mixed" },
        },
        answer: { body: { resolutionQuality: "Intersection", validatedAddresses: [] } },
      },
    ],
    output: { resolutionQuality: "Intersection", validatedAddresses: [] },
  },
];

const refusal = (code: string, message: string) => ({
  error: {
    code,
    message,
    target: "IncorrectData",
    details: [{ code, number: 4, message, description: "-0-", severity: "Error" }],
  },
});

const invoice17 = { method: "GET", path: `${TRANSACTIONS}/INV-17` };

const failures: readonly ActionCase[] = [
  {
    action: "getTransaction",
    what: "that is not there",
    inputs: { transactionCode: "INV-17" },
    exchanges: [
      {
        request: invoice17,
        answer: {
          status: 404,
          body: refusal("EntityNotFoundError", "Document with ID 'DEFAULT:INV-17' not found."),
        },
      },
    ],
    failure: {
      status: 404,
      code: "EntityNotFoundError",
      message: "Document with ID 'DEFAULT:INV-17' not found.",
      retryable: false,
      badCredentials: false,
    },
  },
  {
    action: "getTransaction",
    what: "with a license key that is no more",
    inputs: { transactionCode: "INV-17" },
    exchanges: [
      {
        request: invoice17,
        answer: {
          status: 401,
          body: refusal("AuthenticationException", "Authentication failed."),
        },
      },
    ],
    failure: {
      status: 401,
      code: "AuthenticationException",
      message: "Authentication failed.",
      retryable: false,
      badCredentials: true,
    },
  },
  {
    action: "getTransaction",
    what: "too often",
    inputs: { transactionCode: "INV-17" },
    exchanges: [
      {
        request: invoice17,
        answer: {
          status: 429,
          headers: { "retry-after": "2" },
          body: refusal("RateLimitExceeded", "Too many requests."),
        },
      },
    ],
    failure: {
      status: 429,
      code: "RateLimitExceeded",
      message: "Too many requests.",
      retryable: true,
      limited: true,
      retryAfterMs: 2_000,
    },
  },
];

export const avalaraCases: ProviderCases = {
  provider: "avalara",
  fields: { accountId: "123456789", environment: "sandbox", companyCode: "DEFAULT" },
  credentials: { apiKey: "license_canary" },
  signature: {
    headers: {
      // 123456789:license_canary
      authorization: "Basic MTIzNDU2Nzg5OmxpY2Vuc2VfY2FuYXJ5",
      "x-avalara-client": "Workflow Automation; 1.0; REST; v2; server",
    },
  },
  cases: [...transactions, ...failures],
};
