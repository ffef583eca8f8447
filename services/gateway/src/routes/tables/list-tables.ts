import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { tableJson } from "./table-json.ts";

export const listTables = route({
  method: "GET",
  path: "/tables",
  scope: "workflows:read",
  bucket: "read",
  summary: "List all tables, newest first",
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "The tables, without their rows." },
  handler: async ({ tables, call }) => {
    const list = await tables.listTables({}, call);
    return { status: 200, data: list.tables.map(tableJson) };
  },
});
