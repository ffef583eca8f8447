import type { ProviderCases } from "../action-case.ts";
import { queries } from "./queries.ts";
import { reports } from "./reports.ts";
import { transactions } from "./transactions.ts";

export const quickbooksCases: ProviderCases = {
  provider: "quickbooks",
  fields: { realmId: "9341453474484455" },
  credentials: { accessToken: "eyJ-canary", refreshToken: "AB1-canary" },
  signature: { headers: { authorization: "Bearer eyJ-canary" } },
  cases: [...reports, ...queries, ...transactions],
};
