import { AppError } from "@workflow/errors";
import { TriggerType } from "@workflow/proto/runs/v1/run";
import type { GetWidgetQueryRequest, WidgetQuery } from "@workflow/proto/workflows/v1/dashboards";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { periodUntil } from "../dashboards/period.ts";
import { figuresQuestion, rowsQuestion, showsRows } from "../dashboards/table-question.ts";
import { parseConfig } from "../dashboards/widget-config.ts";
import type { RunsConfig } from "../dashboards/widget-config.ts";
import { getDashboard } from "../store/dashboards.ts";
import { listWidgets, widgetNotFound } from "../store/dashboards-widgets.ts";
import { requireDashboardKey } from "./dashboard-key.ts";

const TRIGGERS = {
  api: TriggerType.API,
  webhook: TriggerType.WEBHOOK,
  schedule: TriggerType.SCHEDULE,
  manual: TriggerType.MANUAL,
  table: TriggerType.TABLE,
} as const satisfies Record<NonNullable<RunsConfig["triggerType"]>, TriggerType>;

/** Turns a widget's config into a query of its source, as of now. */
export function getWidgetQuery({
  database,
}: ServiceContext): UnaryMethod<GetWidgetQueryRequest, WidgetQuery> {
  return rpc({
    scopes: "workflows:read",
    async handler({ dashboardId, widgetId }, context) {
      const key = requireDashboardKey(dashboardId, context);
      await getDashboard(database, key);
      const widgets = await listWidgets(database, key);
      const widget = widgets.find(({ id }) => id === widgetId.toLowerCase());
      if (widget === undefined) throw widgetNotFound();
      const config = parseConfig(widget.configJson);
      if (config.source === undefined) {
        throw new AppError("BAD_REQUEST", "The widget has no data: its config names no source.");
      }
      const nothing = { runStats: undefined, aggregateRows: undefined, queryRows: undefined };
      if (config.source === "runs") {
        return { ...nothing, runStats: toStatsRequest(config, new Date()) };
      }
      return showsRows(widget.type, config)
        ? { ...nothing, queryRows: rowsQuestion(config) }
        : { ...nothing, aggregateRows: figuresQuestion(config) };
    },
  });
}

function toStatsRequest(config: RunsConfig, now: Date): WidgetQuery["runStats"] {
  const { workflowId = "", triggerType, periodMs, bucketMs } = config;
  return {
    workflowId,
    triggerType: triggerType === undefined ? TriggerType.UNSPECIFIED : TRIGGERS[triggerType],
    ...periodUntil(now, { periodMs, bucketMs }),
  };
}
