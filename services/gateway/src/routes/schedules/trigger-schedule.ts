import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { triggeredRunSchema } from "../workflows/run-answer-schema.ts";

export const triggerSchedule = route({
  method: "POST",
  path: "/workflows/{id}/schedule/trigger",
  scope: "workflows:execute",
  bucket: "execute",
  audit: null,
  summary: "Start a run as the schedule would",
  description: [
    "The run starts at once and counts as one of the schedule; when it fires next does not change.",
    "It makes no difference whether the schedule is enabled, but the workflow has to be active: else WORKFLOW_NOT_ACTIVE.",
    "Each request starts a run.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: { 202: { description: "The run was started.", data: triggeredRunSchema } },
  errors: ["NOT_FOUND", "WORKFLOW_NOT_ACTIVE", "VALIDATION_ERROR"],
  handler: async ({ schedules, call }, { params }) => {
    const { run } = await schedules.triggerSchedule({ workflowId: params.id }, call);
    if (run === undefined) throw new Error("The runs service answered without a run.");
    return {
      status: 202,
      data: {
        runId: run.id,
        status: "pending",
        workflowId: run.workflowId,
        triggeredAt: run.createdAt ?? null,
      },
    };
  },
});
