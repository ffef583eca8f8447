import { z } from "zod";
import { flag, list, number, text } from "../action-input.ts";
import type { ActionInput } from "../action-input.ts";
import type { ActionManifest, ProviderManifest } from "../provider-manifest.ts";

const accountIds: ActionInput = list("account_ids", {
  title: "Accounts",
  description: "Only these; all by default",
  as: "options.account_ids",
});

const originalDescription: ActionInput = flag("include_original_description", {
  title: "With the bank's own description",
  as: "options.include_original_description",
});

const getAccounts: ActionManifest = {
  name: "getAccounts",
  title: "Get accounts",
  description: "Reads the accounts with their balances as last known, without asking the bank.",
  docs: "https://plaid.com/docs/api/accounts/#accountsget",
  inputs: [accountIds],
  outputs: ["accounts", "item", "request_id"],
  request: { method: "POST", path: "/accounts/get" },
  readOnly: true,
  example: {},
};

const getBalances: ActionManifest = {
  name: "getBalances",
  title: "Get balances",
  description: "Asks the bank for the balances of this moment; it may take half a minute.",
  docs: "https://plaid.com/docs/api/products/signal/#accountsbalanceget",
  inputs: [
    accountIds,
    text("min_last_updated_datetime", {
      schema: z.iso.datetime("must be a time such as 2026-01-31T00:00:00Z"),
      as: "options.min_last_updated_datetime",
      description: "The oldest balance that will do, where the bank needs it: 2026-01-31T00:00:00Z",
    }),
  ],
  outputs: ["accounts", "item", "request_id"],
  request: { method: "POST", path: "/accounts/balance/get" },
  readOnly: true,
  example: {},
};

const listTransactions: ActionManifest = {
  name: "listTransactions",
  title: "List transactions",
  description: "Lists the transactions of a range of days, the newest first.",
  docs: "https://plaid.com/docs/api/products/transactions/#transactionsget",
  inputs: [
    day("start_date", "The first day: 2026-01-01"),
    day("end_date", "The last day: 2026-01-31"),
    accountIds,
    originalDescription,
  ],
  outputs: ["transactions", "hasMore"],
  request: { method: "POST", path: "/transactions/get" },
  paging: {
    items: "transactions",
    member: "transactions",
    in: "body",
    size: { param: "options.count", max: 500 },
    next: { kind: "offset", param: "options.offset", total: "total_transactions" },
  },
  readOnly: true,
  example: { start_date: "2026-01-01", end_date: "2026-01-31" },
};

const syncTransactions: ActionManifest = {
  name: "syncTransactions",
  title: "Get changes of transactions",
  description: "Reads what was added, modified and removed since a cursor; keep next_cursor.",
  docs: "https://plaid.com/docs/api/products/transactions/#transactionssync",
  inputs: [
    text("cursor", {
      schema: z.string().max(256),
      description: "next_cursor of the last call; without one it begins anew",
    }),
    number("count", {
      schema: z.int().min(1).max(500),
      description: "How many changes at most; while has_more is true, call again",
    }),
    text("account_id", { as: "options.account_id", description: "Only changes of this account" }),
    originalDescription,
  ],
  outputs: [
    "added",
    "modified",
    "removed",
    "next_cursor",
    "has_more",
    "accounts",
    "transactions_update_status",
    "request_id",
  ],
  request: { method: "POST", path: "/transactions/sync" },
  readOnly: true,
  example: { count: 500 },
};

/** Bank accounts. One connection is one Item: a person's or company's login at one bank. */
export const plaid: ProviderManifest = {
  id: "plaid",
  name: "Plaid",
  description: "Bank accounts, balances and transactions.",
  category: "banking",
  docs: "https://plaid.com/docs/api",
  baseUrl: "https://production.plaid.com",
  // Our own keys go with every request and give access to the Items of all companies.
  hosts: [],
  auth: { kind: "bank" },
  operatorCredentials: { clientId: "PLAID_CLIENT_ID", clientSecret: "PLAID_CLIENT_SECRET" },
  sign: {
    body: { client_id: "{clientId}", secret: "{clientSecret}", access_token: "{accessToken}" },
  },
  headers: { "plaid-version": "2020-09-14" },
  verify: {
    method: "POST",
    path: "/item/get",
    body: {},
    errorIn: "item.error",
    accountId: "item.item_id",
  },
  // https://plaid.com/docs/errors
  errors: {
    code: ["error_code"],
    message: ["error_message"],
    retryableCodes: [
      "INSTITUTION_DOWN",
      "INSTITUTION_NOT_AVAILABLE",
      "INSTITUTION_NOT_RESPONDING",
      "INTERNAL_SERVER_ERROR",
      "PLANNED_MAINTENANCE",
      "PRODUCT_NOT_READY",
      "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION",
    ],
    // INVALID_API_KEYS is missing here: those keys are ours, and no connection is at fault.
    credentialCodes: ["INVALID_ACCESS_TOKEN", "ITEM_NOT_FOUND"],
    expiredCodes: [
      "ACCESS_NOT_GRANTED",
      "INVALID_CREDENTIALS",
      "INVALID_MFA",
      "ITEM_LOCKED",
      "ITEM_LOGIN_REQUIRED",
      "PASSWORD_RESET_REQUIRED",
      "USER_PERMISSION_REVOKED",
      "USER_SETUP_REQUIRED",
    ],
  },
  rateLimit: { codes: ["RATE_LIMIT"] },
  actions: [getAccounts, getBalances, listTransactions, syncTransactions],
};

function day(key: string, description: string): ActionInput {
  const schema = z.iso.date("must be a day such as 2026-01-31");
  return text(key, { schema, description, required: true });
}
