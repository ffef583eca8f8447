import { MeasureFunction } from "@workflow/proto/tables/v1/rows";
import { z } from "zod";
import { RawJson } from "../../http/write-json.ts";
import { NO_QUERY, route } from "../../route.ts";
import { columnId, filter, QUERY_BYTES_MAX } from "./query-fields.ts";
import { figuresSchema } from "./row-schema.ts";
import { namesOf } from "../answer-schemas.ts";

const FUNCTIONS = {
  count: MeasureFunction.COUNT,
  sum: MeasureFunction.SUM,
  avg: MeasureFunction.AVG,
  min: MeasureFunction.MIN,
  max: MeasureFunction.MAX,
} as const;

const MEASURES = "must have 1 to 20 measures";

const measure = z
  .object({
    fn: namesOf(FUNCTIONS).describe(
      "count: of rows, or with a column of its values that are not blank. sum, avg: of a number column. min, max: of a number or date column.",
    ),
    column: columnId.describe("The column that it is about; only count needs none."),
  })
  .meta({ id: "Measure", description: "One figure to compute.", examples: [{ fn: "count" }] });

export const aggregateRows = route({
  method: "POST",
  endsWithClient: true,
  path: "/tables/{id}/aggregate",
  scope: "workflows:read",
  bucket: "write",
  audit: null,
  summary: "Compute figures of rows",
  description: [
    "Count, sum, mean, least and greatest are computed without reading rows, for all that match or for each value of a column.",
    "Values that do not fit the column count in nothing but `count`.",
    "More than 10,000 groups are BAD_REQUEST: filter the rows.",
  ],
  params: { id: "The table's id." },
  query: NO_QUERY,
  body: {
    bytesMax: QUERY_BYTES_MAX,
    schema: z
      .object({
        filter,
        groupBy: columnId.describe(
          "The column whose values make the groups, 10,000 at most; without it all rows are one.",
        ),
        measures: z
          .array(measure)
          .min(1, MEASURES)
          .max(20, MEASURES)
          .describe("The figures to compute."),
      })
      .meta({
        id: "FiguresQuery",
        description: "Which figures of which rows.",
        examples: [
          { groupBy: "state", measures: [{ fn: "count" }, { fn: "sum", column: "amount" }] },
        ],
      }),
  },
  responses: {
    200: {
      description: "A group for each value, with a figure for each measure.",
      data: figuresSchema,
    },
  },
  errors: ["NOT_FOUND"],
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
