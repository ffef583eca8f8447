import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { triggeredRunSchema } from "../workflows/run-answer-schema.ts";

export const triggerSchedule = route({
  method: "POST",
  path: "/workflows/{id}/schedule/trigger",
  scope: "workflows:execute",
  bucket: "execute",
  audit: null,
  summary: "Start a run now, as the workflow's schedule would",
  description:
    "Whether the schedule is enabled does not matter, but its workflow has to be active. The run counts as one of the schedule.",
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
