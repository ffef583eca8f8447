import type { ProviderManifest } from "../../provider-manifest.ts";
import {
  createCompany,
  createContact,
  createDeal,
  createNote,
  createTicket,
  upsertContact,
} from "./creations.ts";
import { DOCS } from "./inputs.ts";
import { associateObjects, getObject, searchObjects, updateObject } from "./objects.ts";

/** CRM v3. HubSpot's OAuth version 1 ends in February 2027, so this manifest uses the next one. */
export const hubspot: ProviderManifest = {
  id: "hubspot",
  name: "HubSpot",
  description: "Contacts, companies, deals, tickets and every other record of the CRM.",
  category: "crm",
  docs: DOCS,
  baseUrl: "https://api.hubapi.com",
  auth: {
    kind: "oauth",
    authorizeUrl: "https://app.hubspot.com/oauth/authorize",
    tokenUrl: "https://api.hubapi.com/oauth/2026-03/token",
    revokeUrl: "https://api.hubapi.com/oauth/2026-03/token/revoke",
    scopes: [
      "oauth",
      "crm.objects.contacts.read",
      "crm.objects.contacts.write",
      "crm.objects.companies.read",
      "crm.objects.companies.write",
      "crm.objects.deals.read",
      "crm.objects.deals.write",
      "tickets",
    ],
    tokenAuth: "client_secret_post",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  verify: { method: "GET", path: "/account-info/v3/details", accountId: "portalId" },
  errors: {
    code: ["category", "errors.0.category", "policyName", "errorType"],
    message: ["message", "errors.0.message"],
    // A batch answers 207 when some of its parts failed.
    failedWhen: { path: "errors.0", exists: true },
    credentialCodes: ["INVALID_AUTHENTICATION", "EXPIRED_AUTHENTICATION"],
    permissionCodes: ["MISSING_SCOPES"],
  },
  // Status 429 names the policy: a limit in ten seconds, in one second for searches, or until midnight.
  rateLimit: {
    codeWaitsMs: {
      SECONDLY: 1_000,
      TEN_SECONDLY_ROLLING: 10_000,
    },
    waitMs: 10_000,
    exhaustedCodes: ["DAILY"],
  },
  actions: [
    createContact,
    upsertContact,
    createCompany,
    createDeal,
    createTicket,
    createNote,
    getObject,
    updateObject,
    searchObjects,
    associateObjects,
  ],
};
