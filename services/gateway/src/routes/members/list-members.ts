import { NO_BODY, route } from "../../route.ts";
import { listMembers as readMembers } from "../../store/members.ts";
import { readNewestFirst, wholePageFields } from "../newest-first.ts";
import { memberJson } from "./member-json.ts";
import { z } from "zod";
import { memberSchema } from "./member-schema.ts";
import { pageMetaSchema } from "../answer-schemas.ts";

export const listMembers = route({
  method: "GET",
  path: "/members",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the people of the company",
  description: [
    "The newest member comes first, each with the role in this company.",
    "A person may be in other companies, which are not told.",
  ],
  params: {},
  query: wholePageFields,
  body: NO_BODY,
  responses: {
    200: {
      description: "All of them with their roles, as far as they fit a page.",
      data: z.array(memberSchema),
      meta: pageMetaSchema,
    },
  },
  handler: async ({ database, identity, cursors }, { query }) => {
    const { companyId } = identity;
    const { items, meta } = await readNewestFirst(
      { cursors, binding: ["members", companyId], query },
      (page) => readMembers(database, companyId, page),
      ({ userId, createdAt }) => ({ id: userId, createdAt }),
    );
    return { status: 200, data: items.map(memberJson), meta };
  },
});
