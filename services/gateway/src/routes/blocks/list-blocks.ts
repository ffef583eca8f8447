import { BLOCK_KINDS } from "@workflow/catalog";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { answerOfList } from "./block-answers.ts";
import { blockSchema } from "./block-schema.ts";

export const listBlocks = route({
  method: "GET",
  path: "/blocks",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the blocks of the catalog",
  description: [
    "A block is a kind of step or trigger that an editor offers.",
    "The catalog is the same for all companies and has no data of any of them.",
    "It says what a field is called and when it is needed; what a provider takes of a value shows when a step runs.",
  ],
  params: {},
  query: z.object({
    kind: z
      .enum(BLOCK_KINDS)
      .optional()
      .describe("core: what the service does by itself; integrations: providers; triggers."),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "All blocks, or those of a kind, the same for every company.",
      data: z.array(blockSchema),
      headers: ["ETag"],
    },
  },
  handler: async (_, { query }) => ({ status: 200, ...(await answerOfList(query.kind)) }),
});
