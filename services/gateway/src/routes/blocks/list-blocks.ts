import { BLOCK_KINDS } from "@workflow/catalog";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { answerOfList } from "./block-answers.ts";

export const listBlocks = route({
  method: "GET",
  path: "/blocks",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the blocks of the catalog",
  params: {},
  query: z.object({ kind: z.enum(BLOCK_KINDS).optional() }),
  body: NO_BODY,
  responses: { 200: "All blocks, or those of a kind, the same for every company." },
  handler: async (_, { query }) => ({ status: 200, ...(await answerOfList(query.kind)) }),
});
