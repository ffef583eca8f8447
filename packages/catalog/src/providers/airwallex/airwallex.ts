import type { ProviderManifest } from "../../provider-manifest.ts";
import {
  createBeneficiary,
  createTransfer,
  getTransfer,
  listBeneficiaries,
  listTransfers,
} from "./payouts.ts";
import { createConversion, getBalances, listFinancialTransactions } from "./treasury.ts";

/** Treasury: wallets in many currencies, conversions and payouts. */
export const airwallex: ProviderManifest = {
  id: "airwallex",
  name: "Airwallex",
  description: "Balances, conversions, beneficiaries and payouts in many currencies.",
  category: "payments",
  docs: "https://www.airwallex.com/docs/api",
  baseUrl: "https://api.airwallex.com",
  auth: {
    kind: "apiKey",
    fields: [
      { key: "clientId", required: true, secret: true },
      { key: "externalAccountId", required: false },
    ],
    // The login has its own limit, 100 a minute, so its token is kept until it expires.
    login: {
      method: "POST",
      path: "/api/v1/authentication/login",
      headers: { "x-client-id": "{clientId}", "x-api-key": "{apiKey}" },
      token: "token",
      expiresAt: "expires_at",
      livesForMs: 30 * 60_000,
    },
    accountClaim: "externalAccountId",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  // Without this header the account's first version decides the names of payouts. The version is that of
  // Airwallex' own SDK: https://www.npmjs.com/package/@airwallex/node-sdk (2.1.0-beta.5, apiConstants).
  headers: { "x-api-version": "2025-06-30" },
  // The login has proven the keys. A scoped key may lack the permission to read the account (403).
  verify: { method: "GET", path: "/api/v1/account", badStatuses: [401], accountId: "id" },
  errors: { code: ["code"], message: ["message"] },
  // No header names the reset. The reference starts its backoff with a second.
  rateLimit: { codes: ["too_many_requests"], waitMs: 1_000 },
  actions: [
    getBalances,
    listFinancialTransactions,
    createConversion,
    createBeneficiary,
    listBeneficiaries,
    createTransfer,
    getTransfer,
    listTransfers,
  ],
};
