import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { folderJson } from "../tables/table-json.ts";

export const createFolder = route({
  method: "POST",
  path: "/table-folders",
  scope: "workflows:write",
  bucket: "write",
  audit: "table_folder.created",
  summary: "Create a folder of tables",
  params: {},
  query: NO_QUERY,
  body: { schema: z.object({ name: z.string() }) },
  responses: { 201: "The new folder." },
  handler: async ({ tables, call }, { body: { name } }) => {
    const folder = await tables.createFolder({ name }, call);
    return { status: 201, data: folderJson(folder) };
  },
});
