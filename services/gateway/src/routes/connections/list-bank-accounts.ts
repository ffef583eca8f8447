import { rawOrNull } from "../../http/write-json.ts";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { bankAccountsSchema } from "./connection-schema.ts";

export const listBankAccounts = route({
  method: "GET",
  path: "/connections/{id}/plaid/accounts",
  scope: "connections:read",
  bucket: "read",
  summary: "List the accounts at a bank",
  description: [
    "The bank is asked by way of its provider each time.",
    "Where it wants a new sign-in, the list is empty and `lastErrorCode` has the provider's code.",
    "A connection of another provider is BAD_REQUEST; a provider that cannot be reached is 502 UPSTREAM_ERROR.",
  ],
  params: { id: "The connection's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The accounts.", data: bankAccountsSchema } },
  errors: ["NOT_FOUND", "NOT_CONFIGURED", "UPSTREAM_ERROR"],
  handler: async ({ connections, call }, { params }) => {
    const answer = await connections.listBankAccounts({ connectionId: params.id }, call);
    return {
      status: 200,
      data: {
        accounts: rawOrNull(answer.accountsJson),
        lastErrorCode: answer.lastErrorCode ?? null,
        lastSyncedAt: answer.lastSyncedAt ?? null,
      },
    };
  },
});
