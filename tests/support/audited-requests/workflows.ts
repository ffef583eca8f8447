import { createActive, createInStatus, workflowBody } from "../scenarios.ts";
import type { WholeSystem } from "../whole-system.ts";
import { withId } from "./audited-request.ts";
import type { PrepareAudited } from "./audited-request.ts";

/** Requests of workflows that succeed, by route. */
export const WORKFLOWS: Readonly<Record<string, PrepareAudited>> = {
  "POST /workflows": async () => ({
    path: "/workflows",
    body: workflowBody(),
    resourceIds: null,
  }),
  "PUT /workflows/{id}": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}`, body: { name: "Renamed" }, resourceIds: [id] };
  },
  "DELETE /workflows/{id}": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}`, resourceIds: [id] };
  },
  "POST /workflows/{id}/activate": async (system) => {
    const id = await createInStatus(system, "paused");
    return { path: `/workflows/${id}/activate`, resourceIds: [id] };
  },
  "POST /workflows/{id}/pause": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}/pause`, resourceIds: [id] };
  },
  "POST /workflows/{id}/plan": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}/plan`, body: {}, resourceIds: [] };
  },
  "PATCH /workflows/{id}/canvas": async (system) => {
    const id = await createActive(system);
    return {
      path: `/workflows/${id}/canvas`,
      body: { canvasState: { blocks: {}, edges: [], loops: {}, parallels: {} } },
      resourceIds: [id],
    };
  },
  "POST /workflows/{id}/clone": async (system) => ({
    path: `/workflows/${await createActive(system)}/clone`,
    body: { name: "Copy" },
    resourceIds: null,
  }),
  "POST /workflows/import": async () => ({
    path: "/workflows/import",
    body: { formatVersion: 1, ...workflowBody() },
    resourceIds: null,
  }),
  "POST /workflows/{id}/versions/{version}/rollback": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}/versions/1/rollback`, resourceIds: [id] };
  },
  "POST /workflows/{id}/run": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}/run`, body: {}, resourceIds: [] };
  },
  "PUT /workflows/{id}/schedule": async (system) => {
    const id = await createScheduled(system);
    const { data } = await system.call("GET", `/workflows/${id}/schedule`);
    return {
      path: `/workflows/${id}/schedule`,
      body: { cron: "0 9 * * 1" },
      resourceIds: [withId.parse(data).id],
    };
  },
  "POST /workflows/{id}/schedule/trigger": async (system) => {
    const id = await createScheduled(system);
    return { path: `/workflows/${id}/schedule/trigger`, resourceIds: [] };
  },
};

async function createScheduled(system: WholeSystem): Promise<string> {
  return createActive(system, { trigger: { type: "schedule", cron: "0 0 1 1 *" } });
}
