import { invalidRequest } from "@workflow/errors";
import { MeasureFunction } from "@workflow/proto/tables/v1/rows";
import type {
  AggregateRowsRequest,
  AggregateRowsResponse,
  Measure as MeasureMessage,
} from "@workflow/proto/tables/v1/rows";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { NO_COLUMN_ID } from "../domain/column.ts";
import type { Column, ColumnType } from "../domain/column.ts";
import { parseFilter } from "../domain/parse-filter.ts";
import { Problems } from "../domain/problems.ts";
import type { FieldPath } from "../domain/problems.ts";
import type { AggregateQuery, Measure } from "../engine/index.ts";
import { EncodedFigures } from "./encoded-figures.ts";
import { requireTableName } from "./table-name.ts";

const MEASURES_MAX = 20;
const GROUPS_MAX = 10_000;

/**
 * The refusal of cut keys. Different values may begin alike, and no row has a mere beginning as its value.
 */
const CUT_KEY =
  "has values of more than 2000 characters among these rows, which cannot be groups; filter them out";

const FUNCTIONS = new Map<MeasureFunction, Measure["function"]>([
  [MeasureFunction.COUNT, "count"],
  [MeasureFunction.SUM, "sum"],
  [MeasureFunction.AVG, "avg"],
  [MeasureFunction.MIN, "min"],
  [MeasureFunction.MAX, "max"],
]);

const FITTING_TYPES: Readonly<Record<Exclude<Measure["function"], "count">, ColumnType[]>> = {
  sum: ["number"],
  avg: ["number"],
  min: ["number", "date"],
  max: ["number", "date"],
};

/** Computes figures for all rows together, or for each group (D36). */
export function aggregateRows({
  snapshots,
}: ServiceContext): UnaryMethod<AggregateRowsRequest, AggregateRowsResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler(request, call) {
      const count = request.measures.length;
      if (count < 1 || count > MEASURES_MAX) {
        const message = `must have 1 to ${MEASURES_MAX} measures, not ${count}`;
        throw invalidRequest([{ path: ["measures"], message }]);
      }
      const table = requireTableName(request.tableId, call);
      const ask = (columns: readonly Column[]) => parseQuery(request, columns);
      const figures = await snapshots.aggregate(table, ask, call);
      if (figures.groupCount > GROUPS_MAX) {
        const message = `has more than ${GROUPS_MAX} different values; filter the rows`;
        throw invalidRequest([{ path: ["groupBy"], message }]);
      }
      if (figures.hasCutKey) throw invalidRequest([{ path: ["groupBy"], message: CUT_KEY }]);
      return new EncodedFigures(figures.encoded);
    },
  });
}

function parseQuery(request: AggregateRowsRequest, columns: readonly Column[]): AggregateQuery {
  const problems = new Problems();
  const place = problems.at();
  const groupBy =
    request.groupBy === "" ? null : findColumn(request.groupBy, columns, place.at("groupBy"));
  const measures = request.measures.map((measure, index) =>
    parseMeasure(measure, columns, place.at("measures", `${index}`)),
  );
  problems.throwIfAny();
  return { filter: parseFilter(request.filterJson, columns, "structured"), groupBy, measures };
}

function parseMeasure(
  { function: code, columnId }: MeasureMessage,
  columns: readonly Column[],
  place: FieldPath,
): Measure {
  const name = FUNCTIONS.get(code);
  if (name === undefined) place.at("fn").report("must be count, sum, avg, min or max");
  if (columnId === "") {
    if (name !== undefined && name !== "count") {
      place.at("column").report(`must name a column; only count needs none`);
    }
    return { function: "count", column: null };
  }
  const column = findColumn(columnId, columns, place.at("column"));
  if (name === undefined || column === null) return { function: "count", column: null };
  if (name !== "count" && !FITTING_TYPES[name].includes(column.type)) {
    const types = FITTING_TYPES[name].join(" or ");
    place.at("column").report(`must be a ${types} column for ${name}, not ${column.type}`);
  }
  return { function: name, column };
}

function findColumn(id: string, columns: readonly Column[], place: FieldPath): Column | null {
  const column = columns.find((each) => each.id === id);
  if (column === undefined) place.report(NO_COLUMN_ID);
  return column ?? null;
}
