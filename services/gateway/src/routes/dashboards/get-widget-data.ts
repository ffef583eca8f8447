import type { RunFigures } from "@workflow/proto/runs/v1/stats";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { runStatusName } from "../runs/run-json.ts";

export const getWidgetData = route({
  method: "GET",
  path: "/dashboards/{id}/widgets/{widgetId}/data",
  scope: "workflows:read",
  bucket: "read",
  summary: "Read what a widget shows",
  params: { id: "The dashboard's id.", widgetId: "The widget's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 200: "Figures about runs, in all and over time." },
  handler: async ({ dashboards, runStats, call, callWithScope }, { params }) => {
    const { id: dashboardId, widgetId } = params;
    const query = await dashboards.getWidgetQuery({ dashboardId, widgetId }, call);
    if (query.runStats === undefined) throw new Error("A widget asks nothing.");
    // Dashboards are read with workflows:read (D13); of runs they show sums only.
    const stats = await runStats.getRunStats(query.runStats, callWithScope("runs:read"));
    return {
      status: 200,
      data: {
        widgetId: widgetId.toLowerCase(),
        source: "runs",
        from: query.runStats.from,
        to: query.runStats.to,
        bucketMs: query.runStats.bucketMs,
        total: figuresJson(stats.total),
        buckets: stats.buckets.map(({ from, to, figures }) => ({
          from,
          to,
          ...figuresJson(figures),
        })),
      },
    };
  },
});

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
