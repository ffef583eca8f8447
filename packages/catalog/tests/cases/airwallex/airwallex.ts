import type { ProviderCases } from "../action-case.ts";
import { treasury } from "./treasury.ts";
import { payouts } from "./payouts.ts";
import { failures } from "./failures.ts";

export const airwallexCases: ProviderCases = {
  provider: "airwallex",
  fields: { externalAccountId: "acct_1" },
  credentials: { apiKey: "key_canary", clientId: "client_canary", accessToken: "token_canary" },
  signature: {
    headers: { authorization: "Bearer token_canary", "x-api-version": "2025-06-30" },
  },
  cases: [...treasury, ...payouts, ...failures],
};
