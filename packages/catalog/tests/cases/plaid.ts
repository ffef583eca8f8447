import type { ActionCase, ProviderCases } from "./action-case.ts";

function refusal(
  what: string,
  answer: ActionCase["exchanges"][number]["answer"],
  failure: Partial<NonNullable<ActionCase["failure"]>> & { code: string; message: string },
): ActionCase {
  return {
    action: "getAccounts",
    what,
    inputs: {},
    exchanges: [{ request: { method: "POST", path: "/accounts/get", json: {} }, answer }],
    failure: { status: 400, retryable: false, ...failure },
  };
}

/** Plaid's answer. */
function errorBody(error_type: string, error_code: string, error_message: string) {
  return {
    error_type,
    error_code,
    error_message,
    display_message: null,
    request_id: "HNTDNrA8F1shFEW",
  };
}

export const plaidCases: ProviderCases = {
  provider: "plaid",
  fields: {},
  credentials: {
    accessToken: "access-sandbox-canary",
    clientId: "plaid-client",
    clientSecret: "plaid-canary-secret",
  },
  signature: {
    headers: { "plaid-version": "2020-09-14" },
    json: {
      client_id: "plaid-client",
      secret: "plaid-canary-secret",
      access_token: "access-sandbox-canary",
    },
  },
  cases: [
    {
      action: "getAccounts",
      inputs: {},
      exchanges: [
        {
          request: { method: "POST", path: "/accounts/get", json: {} },
          answer: {
            body: { accounts: [{ account_id: "a1" }], item: { item_id: "i1" }, request_id: "r1" },
          },
        },
      ],
      output: { accounts: [{ account_id: "a1" }], item: { item_id: "i1" }, request_id: "r1" },
    },
    {
      action: "getBalances",
      inputs: { account_ids: ["a1"], min_last_updated_datetime: "2026-01-31T00:00:00Z" },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/accounts/balance/get",
            json: {
              options: { account_ids: ["a1"], min_last_updated_datetime: "2026-01-31T00:00:00Z" },
            },
          },
          answer: { body: { accounts: [{ account_id: "a1", balances: { available: 100.5 } }] } },
        },
      ],
      output: { accounts: [{ account_id: "a1", balances: { available: 100.5 } }] },
    },
    {
      action: "listTransactions",
      what: "page by page",
      inputs: {
        start_date: "2026-01-01",
        end_date: "2026-01-31",
        account_ids: ["a1"],
        limit: 600,
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/transactions/get",
            json: {
              start_date: "2026-01-01",
              end_date: "2026-01-31",
              options: { account_ids: ["a1"], count: 500, offset: 0 },
            },
          },
          answer: {
            body: {
              transactions: [{ transaction_id: "t1" }, { transaction_id: "t2" }],
              total_transactions: 3,
            },
          },
        },
        {
          request: {
            method: "POST",
            path: "/transactions/get",
            json: {
              start_date: "2026-01-01",
              end_date: "2026-01-31",
              options: { account_ids: ["a1"], count: 500, offset: 2 },
            },
          },
          answer: { body: { transactions: [{ transaction_id: "t3" }], total_transactions: 3 } },
        },
      ],
      output: {
        transactions: [
          { transaction_id: "t1" },
          { transaction_id: "t2" },
          { transaction_id: "t3" },
        ],
        hasMore: false,
      },
    },
    {
      action: "listTransactions",
      what: "of a day that is none",
      inputs: { start_date: "2026-02-30", end_date: "2026-03-01" },
      exchanges: [],
      refused: "start_date",
    },
    {
      action: "syncTransactions",
      inputs: { cursor: "tVUUL15lYQN5rBnfDIc1I8xudpGdIlw9nsgeXWvhOfkECvUeR663i3Dt1uf", count: 2 },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/transactions/sync",
            json: {
              cursor: "tVUUL15lYQN5rBnfDIc1I8xudpGdIlw9nsgeXWvhOfkECvUeR663i3Dt1uf",
              count: 2,
            },
          },
          answer: {
            body: {
              added: [{ transaction_id: "t1" }],
              modified: [],
              removed: [],
              next_cursor: "next",
              has_more: false,
            },
          },
        },
      ],
      output: {
        added: [{ transaction_id: "t1" }],
        modified: [],
        removed: [],
        next_cursor: "next",
        has_more: false,
      },
    },
    refusal(
      "while the bank wants a new sign-in",
      {
        status: 400,
        body: errorBody("ITEM_ERROR", "ITEM_LOGIN_REQUIRED", "the login details have changed"),
      },
      {
        code: "ITEM_LOGIN_REQUIRED",
        message: "the login details have changed",
        badCredentials: true,
        expired: true,
      },
    ),
    refusal(
      "with an access token that is none",
      {
        status: 400,
        body: errorBody("INVALID_INPUT", "INVALID_ACCESS_TOKEN", "could not find matching token"),
      },
      {
        code: "INVALID_ACCESS_TOKEN",
        message: "could not find matching token",
        badCredentials: true,
        expired: false,
      },
    ),
    refusal(
      "with keys of ours that are bad, for which no connection is to blame",
      {
        status: 400,
        body: errorBody(
          "INVALID_INPUT",
          "INVALID_API_KEYS",
          "invalid client_id or secret provided",
        ),
      },
      {
        code: "INVALID_API_KEYS",
        message: "invalid client_id or secret provided",
        badCredentials: false,
      },
    ),
    refusal(
      "too often",
      {
        status: 429,
        body: errorBody("RATE_LIMIT_EXCEEDED", "ACCOUNTS_LIMIT", "rate limit exceeded"),
      },
      {
        status: 429,
        code: "ACCOUNTS_LIMIT",
        message: "rate limit exceeded",
        retryable: true,
        limited: true,
      },
    ),
    refusal(
      "while the bank is down",
      {
        status: 400,
        body: errorBody("INSTITUTION_ERROR", "INSTITUTION_DOWN", "this institution is down"),
      },
      { code: "INSTITUTION_DOWN", message: "this institution is down", retryable: true },
    ),
  ],
};
