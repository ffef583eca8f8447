import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { folderJson } from "../tables/table-json.ts";
import { folderSchema } from "../tables/table-schema.ts";
import { z } from "zod";

export const listFolders = route({
  method: "GET",
  path: "/table-folders",
  scope: "workflows:read",
  bucket: "read",
  summary: "List the folders of tables",
  description: [
    "The folders stand in the order of their names, each with the ids of its tables.",
    "There are no pages.",
  ],
  params: {},
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The folders and the ids of the tables in each.",
      data: z.array(folderSchema),
    },
  },
  handler: async ({ tables, call }) => {
    const { folders } = await tables.listFolders({}, call);
    return { status: 200, data: folders.map(folderJson) };
  },
});
