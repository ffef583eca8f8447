import type { GetRunStatsRequest, RunFigures } from "@workflow/proto/runs/v1/stats";
import type { WidgetQuery } from "@workflow/proto/workflows/v1/dashboards";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import type { RouteContext } from "../../route-context.ts";
import { runStatusName } from "../runs/run-json.ts";
import { readFigures, readRows } from "./table-widget-data.ts";
import { widgetDataSchema } from "./widget-data-schema.ts";

export const getWidgetData = route({
  method: "GET",
  path: "/dashboards/{id}/widgets/{widgetId}/data",
  scope: "workflows:read",
  bucket: "read",
  summary: "Read what a widget shows",
  description: [
    "What the answer has depends on the widget's config: figures of runs, or rows or figures of a table.",
    "A widget without a source, or whose column is gone, is BAD_REQUEST; one whose table is gone is NOT_FOUND.",
  ],
  params: { id: "The dashboard's id.", widgetId: "The widget's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description:
        "Figures about runs, in all and over time; or rows of a table, or figures about them.",
      data: widgetDataSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async (context, { params }) => {
    const { dashboards, call } = context;
    const { id: dashboardId, widgetId } = params;
    const query = await dashboards.getWidgetQuery({ dashboardId, widgetId }, call);
    return {
      status: 200,
      data: { widgetId: widgetId.toLowerCase(), ...(await readData(context, query)) },
    };
  },
});

async function readData(context: RouteContext, query: WidgetQuery) {
  const { runStats, aggregateRows, queryRows } = query;
  if (runStats !== undefined) return { source: "runs", ...(await readRunStats(context, runStats)) };
  if (aggregateRows !== undefined) {
    return { source: "table", ...(await readFigures(context, aggregateRows)) };
  }
  if (queryRows !== undefined) return { source: "table", ...(await readRows(context, queryRows)) };
  throw new Error("A widget asks nothing.");
}

/** Dashboards need workflows:read (D13); their widgets show only sums of runs. */
async function readRunStats({ runStats, callWithScope }: RouteContext, query: GetRunStatsRequest) {
  const stats = await runStats.getRunStats(query, callWithScope("runs:read"));
  return {
    from: query.from,
    to: query.to,
    bucketMs: query.bucketMs,
    total: figuresJson(stats.total),
    buckets: stats.buckets.map(({ from, to, figures }) => ({ from, to, ...figuresJson(figures) })),
  };
}

function figuresJson(figures: RunFigures | undefined) {
  const { count = 0, statuses = [], successRate, duration } = figures ?? {};
  return {
    count,
    byStatus: Object.fromEntries(statuses.map((each) => [runStatusName(each.status), each.count])),
    successRate: successRate ?? null,
    durationMs:
      duration === undefined
        ? null
        : { p50: duration.p50Ms, p95: duration.p95Ms, p99: duration.p99Ms },
  };
}
