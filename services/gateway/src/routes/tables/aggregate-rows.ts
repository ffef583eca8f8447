import { MeasureFunction } from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import { RawJson } from "../../http/write-json.ts";
import { NO_QUERY, route } from "../../route.ts";
import { columnId, filter, QUERY_BYTES_MAX } from "./query-fields.ts";

const FUNCTIONS = {
  count: MeasureFunction.COUNT,
  sum: MeasureFunction.SUM,
  avg: MeasureFunction.AVG,
  min: MeasureFunction.MIN,
  max: MeasureFunction.MAX,
} as const;

const MEASURES = "must have 1 to 20 measures";

export const aggregateRows = route({
  method: "POST",
  path: "/tables/{id}/aggregate",
  scope: "workflows:read",
  bucket: "write",
  audit: null,
  summary:
    "Compute figures of the rows that match a filter, for all of them or by the values of a column",
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: {
    bytesMax: QUERY_BYTES_MAX,
    schema: z.object({
      filter,
      groupBy: columnId,
      measures: z
        .array(z.object({ fn: z.enum(["count", "sum", "avg", "min", "max"]), column: columnId }))
        .min(1, MEASURES)
        .max(20, MEASURES),
    }),
  },
  responses: { 200: "A group for each value, with a figure for each measure." },
  handler: async ({ rows, call }, { params, body, rawJson }) => {
    const { groups } = await rows.aggregateRows(
      {
        tableId: params.id,
        filterJson: rawJson("filter") ?? "",
        groupBy: body.groupBy ?? "",
        measures: body.measures.map(({ fn, column = "" }) => ({
          function: FUNCTIONS[fn],
          columnId: column,
        })),
      },
      call,
    );
    const shown = groups.map(({ keyJson, valuesJson }) => ({
      key: new RawJson(keyJson),
      values: valuesJson.map((value) => new RawJson(value)),
    }));
    return { status: 200, data: { groups: shown } };
  },
});
