import type { ProviderCases } from "../action-case.ts";
import { records } from "./records.ts";
import { documents } from "./documents.ts";
import { failures } from "./failures.ts";

export const odooCases: ProviderCases = {
  provider: "odoo",
  fields: { domain: "mycompany.odoo.com" },
  credentials: { apiKey: "odoo_canary" },
  signature: { headers: { authorization: "Bearer odoo_canary" } },
  cases: [...records, ...documents, ...failures],
};
