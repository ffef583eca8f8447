import { AppError } from "@workflow/errors";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { answerOfBlock } from "./block-answers.ts";
import { blockSchema } from "./block-schema.ts";

export const getBlock = route({
  method: "GET",
  path: "/blocks/{type}",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get a block of the catalog",
  description: [
    "The block's inputs, outputs and fields are those of the list.",
    "A type that is unknown or hidden is NOT_FOUND.",
  ],
  params: { type: "The block's type, such as http or stripe." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: { description: "The block.", data: blockSchema } },
  errors: ["NOT_FOUND"],
  handler: (_, { params }) => {
    const answer = answerOfBlock(params.type);
    if (answer === undefined) throw new AppError("NOT_FOUND", "Block not found");
    return Promise.resolve({ status: 200, ...answer });
  },
});
