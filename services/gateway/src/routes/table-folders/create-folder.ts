import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { folderJson } from "../tables/table-json.ts";
import { folderSchema } from "../tables/table-schema.ts";

export const createFolder = route({
  method: "POST",
  path: "/table-folders",
  scope: "workflows:write",
  bucket: "write",
  audit: "table_folder.created",
  summary: "Create a folder of tables",
  description: [
    "Folders are one level deep; they cannot be renamed or deleted.",
    "A name that the company has already, in the same case, is CONFLICT.",
    "Their number has no limit; all together may have 16 MiB, each with its name and 100 bytes: else BAD_REQUEST.",
  ],
  params: {},
  query: NO_QUERY,
  body: {
    schema: z
      .object({
        name: z
          .string()
          .describe(
            "1 to 255 characters once white space at both ends is gone, of no other folder; capitals count.",
          )
          .meta({ examples: ["Sales"], minLength: 1 }),
      })
      .meta({ id: "NewTableFolder", description: "A new folder of tables." }),
  },
  responses: { 201: { description: "The new folder.", data: folderSchema } },
  errors: ["CONFLICT"],
  handler: async ({ tables, call }, { body: { name } }) => {
    const folder = await tables.createFolder({ name }, call);
    return { status: 201, data: folderJson(folder) };
  },
});
