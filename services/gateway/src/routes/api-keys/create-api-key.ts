import { AppError } from "@workflow/errors";
import type { Identity } from "@workflow/rpc";
import { z } from "zod";
import { createApiKey as makeApiKey } from "../../admin/create-api-key.ts";
import { nameInput, scopesInput } from "../../admin/inputs.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import type { Scope } from "../../auth/scopes.ts";
import { NO_QUERY, route } from "../../route.ts";
import { timestamp } from "../fields.ts";
import { apiKeyJson } from "./api-key-json.ts";

export const createApiKey = route({
  method: "POST",
  path: "/auth/api-keys",
  scope: "api_keys:write",
  bucket: "write",
  audit: "api_key.created",
  summary: "Make an API key with scopes that the caller has",
  params: {},
  query: NO_QUERY,
  body: {
    schema: z.object({
      name: nameInput,
      scopes: scopesInput,
      expiresAt: timestamp
        .refine((date) => date.getTime() > Date.now(), "must lie in the future")
        .nullish(),
    }),
  },
  responses: { 201: "The key; it is shown here only." },
  handler: async (context, { body }) => {
    const { identity } = context;
    requireOwnScopes(identity, body.scopes);
    const created = await context.database.transaction(async (transaction) => {
      const key = await makeApiKey(transaction, {
        companyId: identity.companyId,
        name: body.name,
        scopes: body.scopes,
        createdBy: identity.principal.id,
        ...(body.expiresAt ? { expiresAt: body.expiresAt } : {}),
      });
      await recordAudit(transaction, context, {
        action: "api_key.created",
        resourceType: "api_key",
        resourceId: key.id,
        changes: {
          name: { from: null, to: key.name },
          scopes: { from: null, to: key.scopes.join(" ") },
          expiresAt: { from: null, to: key.expiresAt?.toISOString() ?? null },
        },
      });
      return key;
    });
    const { key } = created;
    const shown = apiKeyJson({ ...created, scopes: [...created.scopes], lastUsedAt: null });
    return { status: 201, data: { ...shown, key } };
  },
});

/** Nobody makes itself more powerful through a key of its own making (D12). */
function requireOwnScopes({ scopes }: Identity, wanted: readonly Scope[]): void {
  const missing = wanted.filter((scope) => !scopes.includes(scope));
  if (missing.length === 0) return;
  const names = missing.join(", ");
  throw new AppError("FORBIDDEN", `A key cannot be given scopes that its maker lacks: ${names}.`);
}
