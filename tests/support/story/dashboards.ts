import type { Headers } from "./people.ts";
import type { Storyteller } from "./storyteller.ts";

/** Ada watches the orders. */
export async function tellOfDashboards(
  story: Storyteller,
  headers: Headers,
  tableId: string,
): Promise<void> {
  const id = await story.make("createDashboard", { headers, body: { name: "Orders" } });
  const params = { id };
  const first = await story.make("createWidget", {
    name: "runs",
    params,
    headers,
    body: { type: "metric", title: "Runs of the week", config: { source: "runs" } },
  });
  const second = await story.make("createWidget", {
    name: "table",
    params,
    headers,
    body: {
      type: "bar",
      title: "Orders by state",
      config: { source: "table", tableId, groupBy: "state", measures: [{ fn: "count" }] },
      width: 6,
    },
  });
  const widget = { ...params, widgetId: second };
  await story.tell("updateWidget", { params: widget, headers, body: { title: "Orders" } });
  await story.tell("saveLayout", {
    params,
    headers,
    body: {
      widgets: [
        { id: first, x: 6, y: 0, w: 6, h: 4 },
        { id: second, x: 0, y: 0, w: 6, h: 4 },
      ],
    },
  });
  await story.tell("getWidgetData", { params: widget });
  await story.tell("deleteWidget", { params: { ...params, widgetId: first }, headers });
  await story.tell("updateDashboard", { params, headers, body: { description: "For the office" } });
  await story.tell("getDashboard", { params });
  await story.tell("listDashboards");
  await story.tell("deleteDashboard", { params, headers });
}
