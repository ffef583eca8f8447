import { invalidRequest } from "@workflow/errors";
import { cutJsonArray, isJsonProblem, scanJsonObject } from "@workflow/json";
import type { JsonMembers } from "@workflow/json";
import { z } from "zod";
import { NO_QUERY, route } from "../../route.ts";
import { rowJson } from "./row-json.ts";
import { batchSchema, rowData } from "./row-schema.ts";

const BODY_BYTES_MAX = 8 * 1024 * 1024;
const CHANGES_MAX = 1_000;

export const batchRows = route({
  method: "POST",
  path: "/tables/{id}/rows/batch",
  scope: "workflows:write",
  bucket: "write",
  audit: null,
  summary: "Change many rows at once",
  description: [
    "Rows are inserted, updated and deleted in this order, and all of it happens or nothing does.",
    "A batch has 1 to 1,000 changes, and names each row once.",
    "A row that is not there is NOT_FOUND, with the ids in `details.rowIds`.",
    "It counts as one write request.",
  ],
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: {
    bytesMax: BODY_BYTES_MAX,
    schema: z
      .object({
        insert: z
          .array(z.object({ data: rowData }))
          .default([])
          .describe("New rows, in order."),
        update: z
          .array(z.object({ id: z.string().describe("The row's id."), data: rowData }))
          .default([])
          .describe("Rows whose data is replaced."),
        delete: z.array(z.string()).default([]).describe("Ids of rows to delete."),
      })
      .meta({
        id: "RowBatch",
        description: `1 to ${CHANGES_MAX} changes in all, each row named once; at most 8 MiB.`,
        examples: [{ insert: [{ data: { state: "open" } }] }],
      }),
  },
  responses: {
    200: {
      description: "The new rows, the changed rows, and the ids of those that are gone.",
      data: batchSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ rows, call }, { params, body, rawJson }) => {
    requireChanges(body.insert.length + body.update.length + body.delete.length);
    const updated = dataTexts(rawJson("update"));
    const result = await rows.batchRows(
      {
        tableId: params.id,
        insertDataJson: dataTexts(rawJson("insert")),
        updates: body.update.map(({ id }, index) => ({
          rowId: id,
          dataJson: updated[index] ?? "",
        })),
        deleteRowIds: body.delete,
      },
      call,
    );
    return {
      status: 200,
      data: {
        inserted: result.inserted.map(rowJson),
        updated: result.updated.map(rowJson),
        deleted: result.deletedRowIds,
      },
    };
  },
});

function requireChanges(count: number): void {
  if (count >= 1 && count <= CHANGES_MAX) return;
  const message = `must have 1 to ${CHANGES_MAX} changes in all, not ${count}`;
  throw invalidRequest([{ path: [], message }]);
}

/** `data` of each object in a checked JSON array, as the text that was sent. */
function dataTexts(array = "[]"): string[] {
  return cutJsonArray(array).map((element) => membersOf(element).get("data") ?? "");
}

function membersOf(text: string): JsonMembers {
  const members = scanJsonObject(text);
  if (isJsonProblem(members)) throw new Error("A part of a good document is not good.");
  return members;
}
