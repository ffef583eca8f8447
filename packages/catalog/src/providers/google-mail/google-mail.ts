import type { ProviderManifest } from "../../provider-manifest.ts";
import { readActions } from "./read-actions.ts";
import { writeActions } from "./write-actions.ts";

/** Gmail: the mailbox of the person who authorized. */
export const googleMail: ProviderManifest = {
  id: "google-mail",
  name: "Gmail",
  description: "Sending, finding and sorting e-mail.",
  category: "email",
  docs: "https://developers.google.com/workspace/gmail/api/reference/rest",
  baseUrl: "https://gmail.googleapis.com",
  // https://developers.google.com/identity/protocols/oauth2/web-server
  auth: {
    kind: "oauth",
    authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
    tokenUrl: "https://oauth2.googleapis.com/token",
    revokeUrl: "https://oauth2.googleapis.com/revoke",
    issuer: "https://accounts.google.com",
    // The scope for reading, sending, drafts and labels; all but permanent deletion.
    scopes: ["https://www.googleapis.com/auth/gmail.modify"],
    // Without these parameters there is no refresh token, or only at the first consent.
    authorizeParams: { access_type: "offline", prompt: "consent" },
    tokenAuth: "client_secret_post",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  verify: {
    method: "GET",
    path: "/gmail/v1/users/me/profile",
    accountId: "emailAddress",
    fields: { emailAddress: "emailAddress" },
  },
  // A watch expires after seven days; Google recommends to renew it once a day:
  // https://developers.google.com/workspace/gmail/api/guides/push
  subscription: {
    method: "POST",
    path: "/gmail/v1/users/me/watch",
    body: { topicName: "{target}" },
    renewAfterMs: 24 * 60 * 60_000,
  },
  // https://developers.google.com/workspace/gmail/api/guides/handle-errors
  errors: {
    code: ["error.errors.0.reason", "error.status", "error.code"],
    message: ["error.message"],
    retryableCodes: ["backendError"],
    credentialCodes: ["authError"],
    permissionCodes: ["insufficientPermissions"],
  },
  rateLimit: { codes: ["rateLimitExceeded", "userRateLimitExceeded"] },
  actions: [...writeActions, ...readActions],
};
