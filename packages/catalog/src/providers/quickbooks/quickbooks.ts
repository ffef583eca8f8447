import type { ProviderManifest } from "../../provider-manifest.ts";
import { findCustomers, getRecord, queryRecords } from "./queries.ts";
import { runReport } from "./run-report.ts";
import {
  createBill,
  createCustomer,
  createInvoice,
  createJournalEntry,
  createPayment,
  sendInvoice,
} from "./transactions.ts";

const PRODUCTION = "https://quickbooks.api.intuit.com";
const SANDBOX = "https://sandbox-quickbooks.api.intuit.com";

/** The accounting block. The company is the callback's `realmId`. */
export const quickbooks: ProviderManifest = {
  id: "quickbooks",
  name: "QuickBooks",
  description: "Financial reports, customers, invoices, bills, payments and journal entries.",
  category: "accounting",
  docs: "https://developer.intuit.com/app/developer/qbo/docs/api/accounting/all-entities",
  baseUrl: ({ environment }) => (environment === "sandbox" ? SANDBOX : PRODUCTION),
  fieldForms: { realmId: /^\d{1,20}$/, environment: /^(production|sandbox)$/ },
  auth: {
    kind: "oauth",
    authorizeUrl: "https://appcenter.intuit.com/connect/oauth2",
    tokenUrl: "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer",
    revokeUrl: "https://developer.api.intuit.com/v2/oauth2/tokens/revoke",
    scopes: ["com.intuit.quickbooks.accounting"],
    tokenAuth: "client_secret_basic",
    callbackFields: { realmId: "realmId" },
    accountField: "realmId",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  idempotencyQuery: { name: "requestid", max: 50 },
  verify: {
    method: "GET",
    path: "/v3/company/{realmId}/companyinfo/{realmId}?minorversion=75",
    fields: { companyName: "CompanyInfo.CompanyName" },
  },
  errors: {
    // Faults of Intuit's gateway have lower-case names.
    code: ["Fault.Error.0.code", "fault.error.0.code"],
    message: [
      "Fault.Error.0.Detail",
      "Fault.Error.0.Message",
      "fault.error.0.detail",
      "fault.error.0.message",
    ],
    failedWhen: { path: "Fault", exists: true },
    // The token or the company's permission for our application is invalid.
    credentialCodes: ["3200", "3100"],
  },
  // The limits are 500 calls a minute and 10 a second for a company. Intuit asks to wait a minute.
  rateLimit: { codes: ["3001"], waitMs: 60_000 },
  actions: [
    runReport,
    queryRecords,
    getRecord,
    findCustomers,
    createCustomer,
    createInvoice,
    sendInvoice,
    createPayment,
    createBill,
    createJournalEntry,
  ],
};
