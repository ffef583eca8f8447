import type { ExportRowsResponse } from "@workflow/proto/tables/v1/tables";
import { z } from "zod";
import { NO_BODY, route } from "../../route.ts";
import { EXPORT_FORMATS } from "./table-fields.ts";
import { exportedRowSchema } from "./row-schema.ts";

/** The time for a client that reads slowly. */
const EXPORT_TIMEOUT_MS = 1_800_000;

export const exportRows = route({
  method: "GET",
  path: "/tables/{id}/rows/export",
  scope: "workflows:read",
  bucket: "read",
  summary: "Export the rows of a table",
  description: [
    "All rows come as a file, in the table's order, while they are read.",
    "CSV has a line of the columns' names; JSON Lines has an object with id and data for each row.",
    "A connection that breaks off means that the file is not whole.",
  ],
  params: { id: "The table's id." },
  query: z.object({
    format: z
      .enum(["csv", "jsonl"])
      .describe(
        "csv: a line of column names, then the values of declared columns. jsonl: one `{id, data}` a line, nothing left out.",
      ),
  }),
  body: NO_BODY,
  contentTypes: ["text/csv", "application/jsonl"],
  responses: {
    200: {
      description: "The rows as they were when the export began.",
      data: exportedRowSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ tables, call }, { params, query: { format } }) => {
    const { name } = await tables.getTable({ tableId: params.id }, call);
    const { value, contentType } = EXPORT_FORMATS[format];
    const rows = tables.exportRows(
      { tableId: params.id, format: value },
      { ...call, timeoutMs: EXPORT_TIMEOUT_MS },
    );
    return { file: { name: `${name}.${format}`, contentType, chunks: chunksOf(rows) } };
  },
});

async function* chunksOf(rows: AsyncIterable<ExportRowsResponse>): AsyncGenerator<Uint8Array> {
  for await (const { chunk } of rows) yield chunk;
}
