import { invalidRequest } from "@workflow/errors";
import { z } from "zod";
import { csvImportQuery } from "../table-imports/csv-import-fields.ts";
import { importFields } from "../table-imports/import-fields.ts";
import type { ImportJob } from "../table-imports/import-plan.ts";
import { uploadRoute } from "../../route.ts";
import { tableJson } from "./table-json.ts";
import { tableSchema } from "./table-schema.ts";

const BODY_BYTES_MAX = 64 * 1024 * 1024;

export const importTable = uploadRoute({
  method: "POST",
  path: "/tables/import",
  scope: "workflows:write",
  bucket: "write",
  audit: "table.created",
  summary: "Create a table with rows",
  description: [
    "The table and all rows are made, or nothing is: a row that cannot be taken is BAD_REQUEST with its path.",
    "The body is JSON, or with `format=csv` a CSV file whose types are guessed unless `columns` says them.",
    "More rows than `maxRows` are BAD_REQUEST; the body may have 64 MiB.",
    "It counts as one write request.",
    "A company has at most 1,000 tables; one more is BAD_REQUEST.",
  ],
  params: {},
  hasLongQuery: true,
  query: z.object({
    format: z
      .enum(["json", "csv"])
      .default("json")
      .describe("What the body is. Of JSON the other parameters do not count."),
    ...csvImportQuery.shape,
  }),
  body: { schema: importFields, bytesMax: BODY_BYTES_MAX },
  responses: { 201: { description: "The new table.", data: tableSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ imports, call }, { query: { format, name, ...fields }, upload }) => {
    upload.check(format);
    const receive = async (): Promise<ImportJob> => {
      if (format === "json") return { format, bytes: await upload.receive() };
      if (name === undefined) throw invalidRequest([{ path: ["name"], message: "is required" }]);
      return { format, bytes: await upload.receive(), fields: { name, ...fields } };
    };
    const table = await imports.importTable(receive, upload.bytesAnnounced, call);
    return { status: 201, data: tableJson(table) };
  },
});
