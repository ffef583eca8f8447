import { invalidRequest } from "@workflow/errors";
import { WidgetType } from "@workflow/proto/workflows/v1/dashboards";
import type { Dashboard, DashboardLayout, Widget } from "@workflow/proto/workflows/v1/dashboards";
import type { WidgetPlace } from "../dashboards/layout.ts";
import type { DashboardRow } from "../store/dashboards.ts";
import { WIDGET_TYPES } from "../store/dashboards-widgets.ts";
import type { WidgetRow } from "../store/dashboards-widgets.ts";

const MESSAGE_TYPE = {
  metric: WidgetType.METRIC,
  line: WidgetType.LINE,
  bar: WidgetType.BAR,
  table: WidgetType.TABLE,
  text: WidgetType.TEXT,
} as const satisfies Record<WidgetRow["type"], WidgetType>;

/** The message for a stored dashboard; lists omit the widgets. */
export function toDashboardMessage(
  row: DashboardRow,
  widgets: readonly WidgetRow[] = [],
): Dashboard {
  return {
    ...row,
    description: row.description ?? undefined,
    widgets: widgets.map(toWidgetMessage),
  };
}

/** The message for a stored widget. */
export function toWidgetMessage(row: WidgetRow): Widget {
  const { id, title, configJson, refreshIntervalMs } = row;
  return {
    id,
    type: MESSAGE_TYPE[row.type],
    title,
    configJson,
    refreshIntervalMs,
    position: toPlace(row),
  };
}

/** The message for the positions of all widgets. */
export function toLayoutMessage(places: readonly WidgetPlace[], updatedAt: Date): DashboardLayout {
  return { widgets: places.map(toPlace), updatedAt };
}

/**
 * The stored type of a widget.
 *
 * @throws AppError BAD_REQUEST for an unknown one
 */
export function parseWidgetType(type: WidgetType): WidgetRow["type"] {
  const known = WIDGET_TYPES.find((each) => MESSAGE_TYPE[each] === type);
  if (known !== undefined) return known;
  throw invalidRequest([{ path: ["type"], message: `must be one of ${WIDGET_TYPES.join(", ")}` }]);
}

/** Only the position of a widget. */
function toPlace({ id, x, y, w, h }: WidgetPlace): WidgetPlace {
  return { id, x, y, w, h };
}
