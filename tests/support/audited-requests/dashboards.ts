import { makeDashboard, signInEditor } from "../dashboards.ts";
import type { SignedIn } from "../dashboards.ts";
import type { WholeSystem } from "../whole-system.ts";
import type { PrepareAudited } from "./audited-request.ts";

/** One sign-in for each system: sign-ins are limited. */
const editors = new WeakMap<WholeSystem, Promise<SignedIn>>();

/** Requests of dashboards that succeed, by route. */
export const DASHBOARDS: Readonly<Record<string, PrepareAudited>> = {
  "POST /dashboards": async (system) => ({
    path: "/dashboards",
    ...(await editorOf(system)),
    body: { name: "Runs" },
    resourceIds: null,
  }),
  "PATCH /dashboards/{id}": async (system) => {
    const { session, id } = await makeOwnDashboard(system);
    return { path: `/dashboards/${id}`, ...session, body: { name: "Renamed" }, resourceIds: [id] };
  },
  "DELETE /dashboards/{id}": async (system) => {
    const { session, id } = await makeOwnDashboard(system);
    return { path: `/dashboards/${id}`, ...session, resourceIds: [id] };
  },
  "POST /dashboards/{id}/widgets": async (system) => {
    const { session, id } = await makeOwnDashboard(system);
    const body = { type: "text", title: "Read me", config: { text: "hush" } };
    return { path: `/dashboards/${id}/widgets`, ...session, body, resourceIds: [id] };
  },
  "PATCH /dashboards/{id}/widgets/{widgetId}": async (system) => {
    const { session, id, widgetId } = await makeOwnDashboard(system);
    const path = `/dashboards/${id}/widgets/${widgetId}`;
    return { path, ...session, body: { config: { text: "hush" } }, resourceIds: [id] };
  },
  "DELETE /dashboards/{id}/widgets/{widgetId}": async (system) => {
    const { session, id, widgetId } = await makeOwnDashboard(system);
    return { path: `/dashboards/${id}/widgets/${widgetId}`, ...session, resourceIds: [id] };
  },
  "PUT /dashboards/{id}/layout": async (system) => {
    const { session, id, widgetId } = await makeOwnDashboard(system);
    const body = { widgets: [{ id: widgetId, x: 0, y: 0, w: 12, h: 8 }] };
    return { path: `/dashboards/${id}/layout`, ...session, body, resourceIds: [id] };
  },
};

function editorOf(system: WholeSystem): Promise<SignedIn> {
  const known = editors.get(system) ?? signInEditor(system, system.acme);
  editors.set(system, known);
  return known;
}

async function makeOwnDashboard(system: WholeSystem) {
  const session = await editorOf(system);
  return { session, ...(await makeDashboard(system, session)) };
}
