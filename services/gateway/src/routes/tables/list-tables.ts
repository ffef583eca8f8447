import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { tableJson } from "./table-json.ts";
import { tableSchema } from "./table-schema.ts";
import { z } from "zod";

export const listTables = route({
  method: "GET",
  path: "/tables",
  scope: "workflows:read",
  bucket: "read",
  summary: "List tables",
  description: [
    "All tables of the company, the newest first, without rows.",
    "There are no pages.",
  ],
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: { description: "The tables, without their rows.", data: z.array(tableSchema) },
  },
  handler: async ({ tables, call }) => {
    const list = await tables.listTables({}, call);
    return { status: 200, data: list.tables.map(tableJson) };
  },
});
