import { AppError } from "@workflow/errors";
import { z } from "zod";
import { apiKeyCreated, insertNewApiKey } from "../../identity/create-api-key.ts";
import { nameInput, scopesInput } from "../../identity/inputs.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Scope } from "../../domain/scopes.ts";
import { accessOnEntry, getCurrentAccess } from "../../identity/current-access.ts";
import type { Access } from "../../identity/current-access.ts";
import { NO_QUERY, route } from "../../route.ts";
import { lockMembers } from "../../store/members.ts";
import { timestamp } from "../fields.ts";
import { apiKeyJson } from "./api-key-json.ts";
import { newApiKeySchema } from "./api-key-schema.ts";

export const createApiKey = route({
  method: "POST",
  path: "/auth/api-keys",
  scope: "api_keys:write",
  bucket: "write",
  audit: "api_key.created",
  summary: "Create an API key",
  description: [
    "The key is shown in this answer only; a hash of it is stored.",
    "It may have scopes that its maker has, and no others: else FORBIDDEN.",
    "With `expiresAt` it is refused from then on.",
    "Each request makes a key; a company has at most 1,000, and one more is BAD_REQUEST.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      name: nameInput
        .describe("For people; 1 to 255 characters, without the space around them.")
        .meta({ maxLength: 255, examples: ["Deployments"] }),
      scopes: scopesInput
        .describe("What the key may do: none that its maker may not.")
        .meta({ examples: [["workflows:read", "runs:read"]] }),
      expiresAt: timestamp
        .refine((date) => date.getTime() > Date.now(), "must lie in the future")
        .nullish()
        .describe("From when on the key is refused; never by default."),
    }),
  },
  responses: { 201: { description: "The key; it is shown here only.", data: newApiKeySchema } },
  handler: async (context, { body }) => {
    const { identity } = context;
    requireOwnScopes(accessOnEntry(context), body.scopes);
    const created = await context.database.transaction(async (transaction) => {
      const { id, name } = identity.principal;
      await lockMembers(transaction, identity.companyId);
      // A person who is being removed leaves no key behind, and a lost scope goes into none.
      const access = await getCurrentAccess(transaction, context, "api_keys:write");
      requireOwnScopes(access, body.scopes);
      const key = await insertNewApiKey(transaction, {
        companyId: identity.companyId,
        name: body.name,
        scopes: body.scopes,
        createdBy: { id, name },
        ...(body.expiresAt ? { expiresAt: body.expiresAt } : {}),
      });
      await recordAudit(transaction, context, apiKeyCreated(key));
      return key;
    });
    const { key } = created;
    const shown = apiKeyJson({ ...created, scopes: [...created.scopes], lastUsedAt: null });
    return { status: 201, data: { ...shown, key } };
  },
});

/** No key creates a key with more scopes than its own (D12). */
function requireOwnScopes({ scopes }: Access, wanted: readonly Scope[]): void {
  const missing = wanted.filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return;
  const names = missing.join(", ");
  throw new AppError("FORBIDDEN", `A key cannot be given scopes that its maker lacks: ${names}.`);
}
