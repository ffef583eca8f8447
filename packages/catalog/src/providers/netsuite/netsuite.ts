import type { ProviderManifest } from "../../provider-manifest.ts";
import { findRecords, runSuiteQL } from "./queries.ts";
import { createRecord, getRecord, transformRecord, updateRecord, upsertRecord } from "./records.ts";

const HOST = "https://{accountId:host}.suitetalk.api.netsuite.com";

/** Each account has its own host; the callback's `company` names the account. */
export const netsuite: ProviderManifest = {
  id: "netsuite",
  name: "NetSuite",
  description: "Records of every type, transformations and SuiteQL queries.",
  category: "erp",
  docs: "https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/book_1559132836.html",
  baseUrl: HOST,
  // The field is the first label of a host name, which has at most 63 characters.
  fieldForms: { accountId: /^(?=.{1,63}$)[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$/ },
  auth: {
    kind: "oauth",
    // The URL without a known account; the person chooses the account there.
    authorizeUrl: "https://system.netsuite.com/app/login/oauth2/authorize.nl",
    tokenUrl: `${HOST}/services/rest/auth/oauth2/v1/token`,
    revokeUrl: `${HOST}/services/rest/auth/oauth2/v1/revoke`,
    scopes: ["rest_webservices"],
    tokenAuth: "client_secret_basic",
    callbackFields: { accountId: "company" },
    accountField: "accountId",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  verify: {
    method: "POST",
    path: "/services/rest/query/v1/suiteql?limit=1",
    headers: { prefer: "transient" },
    body: { q: "SELECT 1 AS one FROM DUAL" },
    badStatuses: [401],
  },
  errors: {
    code: ["o:errorDetails.0.o:errorCode"],
    message: ["o:errorDetails.0.detail", "title"],
    credentialCodes: ["INVALID_LOGIN", "INVALID_LOGIN_ATTEMPT"],
  },
  // The limit is of an account's concurrent calls. A place is free as soon as one call ends.
  rateLimit: { waitMs: 5_000 },
  actions: [
    createRecord,
    getRecord,
    updateRecord,
    upsertRecord,
    transformRecord,
    findRecords,
    runSuiteQL,
  ],
};
