import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { listApiKeys as readApiKeys } from "../../store/api-keys.ts";
import { apiKeyJson } from "./api-key-json.ts";

export const listApiKeys = route({
  method: "GET",
  path: "/auth/api-keys",
  scope: "api_keys:read",
  bucket: "read",
  summary: "List the API keys that were not revoked, newest first",
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "All of them, expired ones included; never the keys themselves." },
  handler: async ({ database, identity }) => {
    const keys = await readApiKeys(database, identity.companyId);
    return { status: 200, data: keys.map(apiKeyJson) };
  },
});
