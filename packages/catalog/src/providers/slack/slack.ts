import type { ProviderManifest } from "../../provider-manifest.ts";
import { channelAndPeopleActions } from "./channels-and-people.ts";
import { messageActions } from "./messages.ts";

/** A Slack workspace, in which our application acts as a bot. */
export const slack: ProviderManifest = {
  id: "slack",
  name: "Slack",
  description: "Messages, channels and people of a workspace.",
  category: "messaging",
  docs: "https://docs.slack.dev/reference/methods",
  baseUrl: "https://slack.com/api",
  hosts: ["slack.com", "files.slack.com"],
  // https://docs.slack.dev/authentication/installing-with-oauth
  auth: {
    kind: "oauth",
    authorizeUrl: "https://slack.com/oauth/v2/authorize",
    tokenUrl: "https://slack.com/api/oauth.v2.access",
    revokeUrl: "https://slack.com/api/auth.revoke",
    revokeRequest: {
      headers: { authorization: "Bearer {accessToken}" },
      bodyType: "form",
      body: {},
    },
    scopes: [
      "chat:write",
      "chat:write.public",
      "channels:read",
      "channels:history",
      "channels:manage",
      "groups:read",
      "groups:history",
      "groups:write",
      "im:read",
      "im:history",
      "mpim:read",
      "mpim:history",
      "reactions:write",
      "users:read",
      "users:read.email",
    ],
    scopeSeparator: ",",
    // Slack turns an application with PKCE into a public one, without a secret.
    pkce: false,
    tokenAuth: "client_secret_basic",
    tokenFields: { teamId: "team.id", teamName: "team.name", botUserId: "bot_user_id" },
    accountField: "teamId",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  verify: {
    method: "POST",
    path: "/auth.test",
    accountId: "team_id",
    fields: { teamId: "team_id", teamName: "team", botUserId: "user_id" },
  },
  errors: {
    code: ["error"],
    // The details of invalid_arguments and invalid_blocks; other errors have a code only.
    message: ["response_metadata.messages.0", "error"],
    failedWhen: { path: "ok", equals: false },
    retryableCodes: ["fatal_error", "internal_error", "request_timeout", "service_unavailable"],
    credentialCodes: ["account_inactive", "invalid_auth", "not_authed"],
    expiredCodes: ["token_expired", "token_revoked"],
  },
  rateLimit: { codes: ["rate_limited", "ratelimited"] },
  actions: [...messageActions, ...channelAndPeopleActions],
};
