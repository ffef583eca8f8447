import type { ProviderManifest } from "../../provider-manifest.ts";
import {
  createEnvelope,
  createEnvelopeFromTemplate,
  getEnvelope,
  listEnvelopes,
  listRecipients,
  voidEnvelope,
} from "./envelopes.ts";

/**
 * Codes for too many reads or changes of one envelope, in 30 seconds or in an hour. DocuSign does not publish
 * the numbers. The page spells the codes in lower case, the answers in upper case. The account's reset does
 * not cover these limits, so the step is retried after a pause. Calls about other envelopes need not wait.
 *
 * https://developers.docusign.com/docs/esign-rest-api/esign101/rules-and-limits/
 */
const ENVELOPE_WAITS_MS: Readonly<Record<string, number>> = Object.fromEntries(
  [
    ["Burst_Envelope_Polling_Limit_Exceeded", 30_000],
    ["Burst_APIInvocation_Envelope_Limit_Exceeded", 30_000],
    ["Hourly_Envelope_Polling_Limit_Exceeded", 60_000],
    ["Hourly_APIInvocation_Envelope_Limit_Exceeded", 60_000],
  ].flatMap(([code, waitMs]) => [
    [code, waitMs],
    [String(code).toUpperCase(), waitMs],
  ]),
);

/** Accounts belong to regions. A request after the token finds the person's default account and its host. */
export const docusign: ProviderManifest = {
  id: "docusign",
  name: "Docusign",
  description: "Documents sent for signature, from files or templates, and what became of them.",
  category: "signing",
  docs: "https://developers.docusign.com/docs/esign-rest-api/reference/",
  baseUrl: "{baseUri}/restapi/v2.1",
  fieldForms: {
    accountId: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    baseUri: /^https:\/\/([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+docusign\.(net|com)$/i,
  },
  auth: {
    kind: "oauth",
    authorizeUrl: "https://account.docusign.com/oauth/auth",
    tokenUrl: "https://account.docusign.com/oauth/token",
    revokeUrl: "https://account.docusign.com/oauth/revoke",
    // Extended: each refresh gives a refresh token that lives for another 30 days.
    scopes: ["signature", "extended"],
    tokenAuth: "client_secret_basic",
    userInfo: {
      url: "https://account.docusign.com/oauth/userinfo",
      fields: {
        accountId: "accounts.is_default=true.account_id",
        baseUri: "accounts.is_default=true.base_uri",
        accountName: "accounts.is_default=true.account_name",
      },
    },
    accountField: "accountId",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  verify: { method: "GET", path: "/accounts/{accountId}" },
  errors: {
    code: ["errorCode", "error"],
    message: ["message", "error_description"],
    credentialCodes: [
      "AUTHORIZATION_INVALID_TOKEN",
      "PARTNER_AUTHENTICATION_FAILED",
      "USER_AUTHENTICATION_FAILED",
    ],
    retryableCodes: Object.keys(ENVELOPE_WAITS_MS),
  },
  // Limits of the account's calls in an hour, until the reset, and in 30 seconds; with status 400 or 429.
  rateLimit: {
    codes: ["HOURLY_APIINVOCATION_LIMIT_EXCEEDED", "BURST_APIINVOCATION_LIMIT_EXCEEDED"],
    objectCodes: Object.keys(ENVELOPE_WAITS_MS),
    codeWaitsMs: { BURST_APIINVOCATION_LIMIT_EXCEEDED: 30_000, ...ENVELOPE_WAITS_MS },
    resetHeader: { name: "X-RateLimit-Reset", unit: "epochSeconds" },
    waitMs: 60_000,
  },
  actions: [
    createEnvelope,
    createEnvelopeFromTemplate,
    getEnvelope,
    listEnvelopes,
    listRecipients,
    voidEnvelope,
  ],
};
