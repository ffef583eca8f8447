import type { ProviderManifest } from "../../provider-manifest.ts";
import { API } from "./inputs.ts";
import { findRecords, query, search } from "./queries.ts";
import {
  createLead,
  createRecord,
  createTask,
  deleteRecord,
  getRecord,
  updateRecord,
  upsertRecord,
} from "./records.ts";

const MINUTE_MS = 60_000;

/** Each company has its own instance; the token answer names it. */
export const salesforce: ProviderManifest = {
  id: "salesforce",
  name: "Salesforce",
  description: "Records of every object, leads, tasks, SOQL queries and search.",
  category: "crm",
  docs: "https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest",
  baseUrl: "{instanceUrl}",
  fieldForms: {
    instanceUrl: /^https:\/\/([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+(salesforce|force)\.com\/?$/i,
  },
  auth: {
    kind: "oauth",
    authorizeUrl: "https://login.salesforce.com/services/oauth2/authorize",
    tokenUrl: "https://login.salesforce.com/services/oauth2/token",
    revokeUrl: "https://login.salesforce.com/services/oauth2/revoke",
    scopes: ["api", "refresh_token"],
    tokenAuth: "client_secret_post",
    tokenFields: { instanceUrl: "instance_url" },
    // The token answer has no expiry. Sessions end after the company's timeout, two hours by default.
    tokenLivesForMs: 60 * MINUTE_MS,
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  verify: {
    method: "GET",
    path: `${API}/query?q=SELECT+Id,Name+FROM+Organization`,
    accountId: "records.0.Id",
    fields: { organizationName: "records.0.Name" },
  },
  errors: {
    code: ["0.errorCode", "error"],
    message: ["0.message", "error_description"],
    retryableCodes: ["UNABLE_TO_LOCK_ROW", "SERVER_UNAVAILABLE", "REQUEST_RUNNING_TOO_LONG"],
    credentialCodes: ["INVALID_SESSION_ID", "INVALID_AUTH_HEADER"],
  },
  // Status 403 means the limit of 24 hours or of long concurrent calls; no header names the reset.
  rateLimit: { codes: ["REQUEST_LIMIT_EXCEEDED"], waitMs: MINUTE_MS },
  actions: [
    createRecord,
    getRecord,
    updateRecord,
    upsertRecord,
    deleteRecord,
    findRecords,
    query,
    search,
    createLead,
    createTask,
  ],
};
