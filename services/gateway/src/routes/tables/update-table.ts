import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { columnList, newTable } from "./table-fields.ts";
import { tableJson } from "./table-json.ts";
import { tableSchema } from "./table-schema.ts";

const { name, description, columns, schema, metadata, maxRows, rowEvents } = newTable.shape;

export const updateTable = route({
  method: "PATCH",
  path: "/tables/{id}",
  scope: "workflows:write",
  bucket: "write",
  audit: "table.updated",
  summary: "Change a table",
  description: [
    "Fields that are left out stay; `columns`, `schema` and `metadata` are replaced as wholes.",
    "Rows stay as they are, also data of columns that are gone.",
    "What all tables of a company say about themselves may have 16 MiB: else BAD_REQUEST.",
    "Fewer `maxRows` than there are rows only keeps more from being added.",
  ],
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: {
    optional: true,
    schema: z
      .object({
        name: name.optional(),
        description,
        columns: columns.describe(
          "They replace all columns; one of the same name gives its id on.",
        ),
        schema: schema.describe("It replaces the whole schema, its columns included."),
        metadata: metadata.describe("It replaces all metadata."),
        maxRows,
        rowEvents,
      })
      .meta({ id: "TablePatch", description: "What to change of a table; all else stays." }),
  },
  responses: { 200: { description: "The table as it is now.", data: tableSchema } },
  errors: ["NOT_FOUND"],
  handler: async ({ tables, call }, { params, body, rawJson }) => {
    const table = await tables.updateTable(
      {
        tableId: params.id,
        name: body.name,
        description: body.description === null ? "" : body.description,
        columns: columnList(body.columns),
        schemaJson: rawJson("schema"),
        metadataJson: rawJson("metadata"),
        maxRows: body.maxRows,
        rowEvents: body.rowEvents,
      },
      call,
    );
    return { status: 200, data: tableJson(table) };
  },
});
