import type { ActionCase, ProviderCases } from "./action-case.ts";

/** The request id that the step's idempotency key gives. */
const REQUEST_ID = "ec073151-d3c1-4e09-a2f1-20d949e634aa";

const transfer = {
  beneficiary_id: "eb06e9ac",
  source_currency: "USD",
  transfer_currency: "EUR",
  transfer_amount: 120.5,
  transfer_method: "LOCAL",
  reason: "goods_purchased",
  reference: "INV-17",
};

const treasury: readonly ActionCase[] = [
  {
    action: "getBalances",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/balances/current" },
        answer: { body: [{ currency: "USD", available_amount: 100, total_amount: 110 }] },
      },
    ],
    output: { balances: [{ currency: "USD", available_amount: 100, total_amount: 110 }] },
  },
  {
    action: "listFinancialTransactions",
    what: "by number of page, always of one size",
    inputs: {
      currency: "USD",
      status: "SETTLED",
      from_created_at: "2026-01-01T00:00:00Z",
      limit: 3,
    },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/api/v1/financial_transactions",
          query: {
            currency: "USD",
            status: "SETTLED",
            from_created_at: "2026-01-01T00:00:00Z",
            page_size: "100",
            page_num: "0",
          },
        },
        answer: { body: { has_more: true, items: [{ id: "1" }, { id: "2" }] } },
      },
      {
        request: {
          method: "GET",
          path: "/api/v1/financial_transactions",
          query: {
            currency: "USD",
            status: "SETTLED",
            from_created_at: "2026-01-01T00:00:00Z",
            page_size: "100",
            page_num: "1",
          },
        },
        answer: { body: { has_more: false, items: [{ id: "3" }] } },
      },
    ],
    output: { transactions: [{ id: "1" }, { id: "2" }, { id: "3" }], hasMore: false },
  },
  {
    action: "createConversion",
    inputs: { sell_currency: "USD", buy_currency: "EUR", sell_amount: 1000 },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/fx/conversions/create",
          json: {
            request_id: REQUEST_ID,
            sell_currency: "USD",
            buy_currency: "EUR",
            sell_amount: 1000,
          },
        },
        answer: { status: 201, body: { conversion_id: "c1", status: "SCHEDULED" } },
      },
    ],
    output: { conversion_id: "c1", status: "SCHEDULED" },
  },
  {
    action: "createConversion",
    what: "of two amounts",
    inputs: { sell_currency: "USD", buy_currency: "EUR", sell_amount: 1000, buy_amount: 900 },
    exchanges: [],
    refused: "sell_amount",
  },
];

const payouts: readonly ActionCase[] = [
  {
    action: "createBeneficiary",
    what: "of a company, without what belongs to persons",
    inputs: {
      entity_type: "COMPANY",
      company_name: "Lovelace Parts GmbH",
      first_name: "left over",
      transfer_methods: ["LOCAL"],
      bank_details: { account_name: "Lovelace Parts GmbH", iban: "DE89370400440532013000" },
      address: { country_code: "DE", city: "Berlin" },
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/beneficiaries/create",
          json: {
            beneficiary: {
              entity_type: "COMPANY",
              company_name: "Lovelace Parts GmbH",
              bank_details: { account_name: "Lovelace Parts GmbH", iban: "DE89370400440532013000" },
              address: { country_code: "DE", city: "Berlin" },
            },
            transfer_methods: ["LOCAL"],
          },
        },
        answer: { status: 201, body: { id: "b1" } },
      },
    ],
    output: { id: "b1" },
  },
  {
    action: "createBeneficiary",
    what: "of a person without a last name",
    inputs: {
      entity_type: "PERSONAL",
      first_name: "Ada",
      transfer_methods: ["LOCAL"],
      bank_details: { iban: "DE89370400440532013000" },
    },
    exchanges: [],
    refused: "last_name",
  },
  {
    action: "listBeneficiaries",
    inputs: { company_name: "Lovelace", entity_type: "COMPANY", limit: 2 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/api/v1/beneficiaries",
          query: {
            company_name: "Lovelace",
            entity_type: "COMPANY",
            page_size: "100",
            page_num: "0",
          },
        },
        answer: { body: { has_more: true, items: [{ id: "b1" }] } },
      },
      {
        request: {
          method: "GET",
          path: "/api/v1/beneficiaries",
          query: {
            company_name: "Lovelace",
            entity_type: "COMPANY",
            page_size: "100",
            page_num: "1",
          },
        },
        answer: { body: { has_more: true, items: [{ id: "b2" }, { id: "b3" }] } },
      },
    ],
    output: { beneficiaries: [{ id: "b1" }, { id: "b2" }], hasMore: true },
  },
  {
    action: "createTransfer",
    inputs: { ...transfer, swift_charge_option: "PAYER", metadata: { order: "17" } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/transfers/create",
          json: { request_id: REQUEST_ID, ...transfer, metadata: { order: "17" } },
        },
        answer: { status: 201, body: { id: "t1", status: "SCHEDULED", fee_amount: 1 } },
      },
    ],
    output: { id: "t1", status: "SCHEDULED", fee_amount: 1 },
  },
  {
    action: "createTransfer",
    what: "with a request id of the workflow's",
    inputs: { ...transfer, request_id: "invoice-17" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/transfers/create",
          json: { ...transfer, request_id: "invoice-17" },
        },
        answer: { status: 201, body: { id: "t1" } },
      },
    ],
    output: { id: "t1" },
  },
  {
    action: "createTransfer",
    what: "of two amounts",
    inputs: { ...transfer, source_amount: 130 },
    exchanges: [],
    refused: "transfer_amount",
  },
  {
    action: "createTransfer",
    what: "of what the wallet pays",
    inputs: { ...transfer, transfer_amount: null, source_amount: 130 },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/transfers/create",
          json: {
            request_id: REQUEST_ID,
            ...transfer,
            transfer_amount: undefined,
            source_amount: 130,
          },
        },
        answer: { status: 201, body: { id: "t2" } },
      },
    ],
    output: { id: "t2" },
  },
  {
    action: "createTransfer",
    what: "of no amount",
    inputs: { ...transfer, transfer_amount: null },
    exchanges: [],
    refused: "transfer_amount",
  },
  {
    action: "getTransfer",
    what: "of an id that would be a way elsewhere",
    inputs: { id: "t1/cancel?x=1#y" },
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/transfers/t1%2Fcancel%3Fx%3D1%23y" },
        answer: { body: { id: "t1", status: "PAID" } },
      },
    ],
    output: { id: "t1", status: "PAID" },
  },
  { action: "getTransfer", what: "of a dot", inputs: { id: ".." }, exchanges: [], refused: "id" },
  {
    action: "listTransfers",
    what: "from the first on, by bookmarks and in pages of ten at least",
    inputs: { status: "FAILED", limit: 3 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/api/v1/transfers",
          query: { status: "FAILED", page: "0", page_size: "10" },
        },
        answer: { body: { items: [{ id: "t1" }, { id: "t2" }], page_after: "bm2" } },
      },
      {
        request: {
          method: "GET",
          path: "/api/v1/transfers",
          query: { status: "FAILED", page: "bm2", page_size: "10" },
        },
        answer: { body: { items: [{ id: "t3" }], page_before: "bm1", page_after: null } },
      },
    ],
    output: { transfers: [{ id: "t1" }, { id: "t2" }, { id: "t3" }], hasMore: false },
  },
];

const failures: readonly ActionCase[] = [
  {
    action: "createTransfer",
    what: "with a reference that Airwallex refuses",
    inputs: transfer,
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/transfers/create",
          json: { request_id: REQUEST_ID, ...transfer },
        },
        answer: {
          status: 400,
          body: { code: "invalid_argument", source: "reference", message: "Value is too short" },
        },
      },
    ],
    failure: {
      status: 400,
      code: "invalid_argument",
      message: "Value is too short",
      retryable: false,
      badCredentials: false,
    },
  },
  {
    action: "getBalances",
    what: "too often, where nothing says how long to wait",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/balances/current" },
        answer: {
          status: 429,
          body: { code: "too_many_requests", message: "Rate Limit Exceeded.", details: {} },
        },
      },
    ],
    failure: {
      status: 429,
      code: "too_many_requests",
      message: "Rate Limit Exceeded.",
      retryable: true,
      limited: true,
      retryAfterMs: 1_000,
    },
  },
  {
    action: "getBalances",
    what: "with a token that is no more",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/balances/current" },
        answer: { status: 401, body: { code: "unauthorized", message: "Access denied" } },
      },
    ],
    failure: {
      status: 401,
      code: "unauthorized",
      message: "Access denied",
      retryable: false,
      badCredentials: true,
    },
  },
  {
    action: "getBalances",
    what: "with a key that lacks the right",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/balances/current" },
        answer: { status: 403, body: { code: "unauthorized", message: "Permission denied" } },
      },
    ],
    failure: {
      status: 403,
      code: "unauthorized",
      message: "Permission denied",
      retryable: false,
      badCredentials: false,
    },
  },
];

export const airwallexCases: ProviderCases = {
  provider: "airwallex",
  fields: { externalAccountId: "acct_1" },
  credentials: { apiKey: "key_canary", clientId: "client_canary", accessToken: "token_canary" },
  signature: {
    headers: { authorization: "Bearer token_canary", "x-api-version": "2025-06-30" },
  },
  cases: [...treasury, ...payouts, ...failures],
};
