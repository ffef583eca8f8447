import { NO_BODY, route } from "../../route.ts";
import { listApiKeys as readApiKeys } from "../../store/api-keys.ts";
import { readNewestFirst, wholePageFields } from "../newest-first.ts";
import { listedKeyJson } from "./api-key-json.ts";
import { makerId } from "./maker-id.ts";
import { z } from "zod";
import { apiKeySchema } from "./api-key-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

export const listApiKeys = route({
  method: "GET",
  path: "/auth/api-keys",
  scope: "api_keys:read",
  bucket: "read",
  summary: "List API keys",
  description: [
    "The newest key comes first; keys that have expired are in the list, revoked ones are not.",
    "The keys themselves are not known here any more: `keyPrefix` is what is left.",
    "`createdBy` finds those that a person or a key made, directly or through other keys.",
  ],
  params: {},
  query: wholePageFields.extend({
    createdBy: makerId.optional().describe("Only keys that this person, or this key, made."),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "All of them, expired ones included; never the keys themselves.",
      data: z.array(apiKeySchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ database, identity, cursors }, { query }) => {
    const { companyId } = identity;
    const createdBy = query.createdBy ?? null;
    const { items, meta } = await readNewestFirst(
      { cursors, binding: ["api-keys", companyId, createdBy], query },
      (page) => readApiKeys(database, { companyId, createdBy, ...page }),
      (key) => key,
    );
    return { status: 200, data: items.map(listedKeyJson), meta };
  },
});
