import { z } from "zod";
import { choice, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { currency, metadata, money, pagesOf, requestId, time } from "./fields.ts";

/** The answer is an array: https://www.airwallex.com/docs/transactional-fx__marketfx-quickstart */
export const getBalances: ActionManifest = {
  name: "getBalances",
  title: "Get balances",
  description: "Reads what the wallet holds now, by currency.",
  docs: "https://www.airwallex.com/docs/api/core_resources/balances/current",
  inputs: [],
  outputs: ["balances"],
  request: { method: "GET", path: "/api/v1/balances/current" },
  answer: { member: "balances" },
  readOnly: true,
  example: {},
};

export const listFinancialTransactions: ActionManifest = {
  name: "listFinancialTransactions",
  title: "List financial transactions",
  description: "Lists what changed the wallet's balance.",
  docs: "https://www.airwallex.com/docs/api/finance/financial_transactions",
  inputs: [
    time("from_created_at"),
    time("to_created_at"),
    currency("currency"),
    choice("status", [
      { id: "PENDING", label: "Pending" },
      { id: "SETTLED", label: "Settled" },
    ]),
    text("source_id", { description: "Id of the transfer, conversion or payment behind it" }),
    text("batch_id", { description: "Id of a settlement" }),
  ],
  outputs: ["transactions", "hasMore"],
  request: { method: "GET", path: "/api/v1/financial_transactions" },
  paging: pagesOf("transactions"),
  readOnly: true,
  example: { from_created_at: "2026-01-01T00:00:00Z", currency: "USD", status: "SETTLED" },
};

export const createConversion: ActionManifest = {
  name: "createConversion",
  title: "Create a conversion",
  description: "Changes money of the wallet from one currency to another.",
  docs: "https://www.airwallex.com/docs/api/transactional_fx/conversion",
  inputs: [
    currency("sell_currency", { required: true }),
    currency("buy_currency", { required: true }),
    money("sell_amount", {
      requiredWithout: ["buy_amount"],
      notWith: ["buy_amount"],
      description: "Either this or the amount to buy",
    }),
    money("buy_amount", { description: "Either this or the amount to sell" }),
    text("conversion_date", { schema: z.iso.date(), description: "When it settles: 2026-01-31" }),
    text("quote_id", { title: "Quote", description: "Id of a quote whose rate is guaranteed" }),
    metadata,
    requestId,
  ],
  outputs: [
    "conversion_id",
    "short_reference_id",
    "status",
    "sell_currency",
    "sell_amount",
    "buy_currency",
    "buy_amount",
    "client_rate",
    "conversion_date",
  ],
  request: {
    method: "POST",
    path: "/api/v1/fx/conversions/create",
    idempotencyMember: "request_id",
  },
  example: { sell_currency: "USD", buy_currency: "EUR", sell_amount: 1000 },
};
