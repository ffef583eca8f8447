import type { ActionCase } from "../action-case.ts";
import { REQUEST_ID } from "./transfer.ts";

/** Balances and conversions. */
export const treasury: readonly ActionCase[] = [
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
