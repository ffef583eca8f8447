import type { ActionCase, ProviderCases } from "../action-case.ts";
import { stripeRefusals } from "./refusals.ts";
import { customers } from "./customers.ts";
import { payments } from "./payments.ts";
import { billing } from "./billing.ts";

/** A list of two pages: the last id of the first is sent back, until has_more is false. */
function pagesOf(
  action: string,
  path: string,
  { inputs, query, member }: { inputs: object; query: Record<string, string>; member: string },
): ActionCase {
  return {
    action,
    what: "page by page",
    inputs: { ...inputs, limit: 150 },
    exchanges: [
      {
        request: { method: "GET", path, query: { ...query, limit: "100" } },
        answer: { body: { object: "list", data: [{ id: "x1" }, { id: "x2" }], has_more: true } },
      },
      {
        request: { method: "GET", path, query: { ...query, limit: "100", starting_after: "x2" } },
        answer: { body: { object: "list", data: [{ id: "x3" }], has_more: false } },
      },
    ],
    output: { [member]: [{ id: "x1" }, { id: "x2" }, { id: "x3" }], hasMore: false },
  };
}

export const stripeCases: ProviderCases = {
  provider: "stripe",
  fields: { accountId: "acct_1032D82eZvKYlo2C" },
  credentials: { accessToken: "sk_test_canary" },
  signature: {
    headers: { authorization: "Bearer sk_test_canary", "stripe-version": "2026-10-28.endive" },
  },
  cases: [
    ...customers,
    ...payments,
    ...billing,
    ...[
      { payment_method_types: ["card"] },
      { allowed_payment_method_types: [] },
      {
        allowed_payment_method_types: ["card"],
        automatic_payment_methods: { enabled: true },
      },
    ].map((inputs) => ({
      action: "createPaymentIntent",
      what: `whose methods would be others: ${JSON.stringify(inputs)}`,
      inputs: { amount: 1099, currency: "usd", ...inputs },
      exchanges: [],
      refused: Object.keys(inputs)[0] ?? "",
    })),
    pagesOf("listCustomers", "/v1/customers", {
      inputs: { email: "ada@example.com", created_gte: 1767225600 },
      query: { email: "ada@example.com", "created[gte]": "1767225600" },
      member: "customers",
    }),
    pagesOf("listInvoices", "/v1/invoices", {
      inputs: { status: "open" },
      query: { status: "open" },
      member: "invoices",
    }),
    pagesOf("listPayouts", "/v1/payouts", {
      inputs: { status: "paid" },
      query: { status: "paid" },
      member: "payouts",
    }),
    pagesOf("listBalanceTransactions", "/v1/balance_transactions", {
      inputs: { payout: "po_1" },
      query: { payout: "po_1" },
      member: "balance_transactions",
    }),
    ...stripeRefusals,
  ],
};
