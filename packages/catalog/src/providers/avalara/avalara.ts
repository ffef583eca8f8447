import type { ProviderManifest } from "../../provider-manifest.ts";
import { resolveAddress } from "./addresses.ts";
import {
  commitTransaction,
  createTransaction,
  getTransaction,
  listTransactions,
  voidTransaction,
} from "./transactions.ts";

/** Tax; the connection's apiKey is the account's license key. */
export const avalara: ProviderManifest = {
  id: "avalara",
  name: "Avalara AvaTax",
  description: "Taxes of sales and purchases, and addresses.",
  category: "tax",
  docs: "https://developer.avalara.com/api-reference/avatax/rest/v2/",
  baseUrl: ({ environment }) =>
    environment === "sandbox" ? "https://sandbox-rest.avatax.com" : "https://rest.avatax.com",
  fieldForms: {
    accountId: /^\d{1,20}$/,
    environment: /^(production|sandbox)$/,
    // The field is part of paths, where one or two dots would lead elsewhere.
    companyCode: /^(?!\.{1,2}$)[^\p{Cc}]{1,25}$/u,
  },
  auth: {
    kind: "apiKey",
    fields: [
      { key: "accountId", required: true },
      { key: "environment", required: true, options: ["production", "sandbox"] },
      { key: "companyCode", required: false },
    ],
    accountField: "accountId",
  },
  sign: { basic: ["{accountId}", "{apiKey}"] },
  // Application; its version; library; its version; machine.
  headers: { "x-avalara-client": "Workflow Automation; 1.0; REST; v2; server" },
  // The request needs no credentials: unknown callers get 200 as well.
  verify: {
    method: "GET",
    path: "/api/v2/utilities/ping",
    badWhen: { path: "authenticated", equals: false },
    accountId: "authenticatedAccountId",
  },
  errors: {
    code: ["error.code", "error.details.0.code"],
    message: ["error.message", "error.details.0.message", "error.details.0.description"],
    credentialCodes: ["AuthenticationException", "AuthenticationIncomplete", "BasicAuthIncorrect"],
  },
  actions: [
    createTransaction,
    getTransaction,
    listTransactions,
    commitTransaction,
    voidTransaction,
    resolveAddress,
  ],
};
