import { isAppError } from "@workflow/errors";
import { z } from "zod";
import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import type { RouteContext } from "../../route-context.ts";
import { workflowStatusName } from "./workflow-json.ts";
import { activatedSchema } from "./workflow-schema.ts";

export const activateWorkflow = route({
  method: "POST",
  path: "/workflows/{id}/activate",
  scope: "workflows:write",
  bucket: "write",
  audit: "workflow.activated",
  summary: "Activate a workflow",
  description: [
    "A draft or paused workflow becomes active: its trigger starts runs from now on, and callers may run it.",
    "The definition has to be complete and valid, else VALIDATION_ERROR names what is wrong.",
    "A schedule trigger makes the workflow's schedule, and the answer says when it fires next.",
    "From another status it is BAD_REQUEST with `details` {currentStatus, targetStatus, allowedTransitions}.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: {
      description: "The workflow is active and can be run; with its schedule, if it has one.",
      data: activatedSchema,
      headers: ["ETag"],
    },
  },
  errors: ["NOT_FOUND", "VALIDATION_ERROR", "CONFLICT"],
  handler: async (context, { params }) => {
    const { workflows, call } = context;
    const workflow = await workflows.activateWorkflow({ workflowId: params.id }, call);
    return {
      status: 200,
      data: {
        id: workflow.id,
        status: workflowStatusName(workflow.status),
        schedule: hasSchedule(workflow.triggerJson)
          ? await findSchedule(context, workflow.id)
          : undefined,
      },
      etag: workflow.etag,
    };
  },
});

const scheduleTrigger = z.looseObject({ type: z.literal("schedule") });

function hasSchedule(triggerJson: string): boolean {
  return scheduleTrigger.safeParse(JSON.parse(triggerJson)).success;
}

/** Undefined when somebody has removed the schedule meanwhile. */
async function findSchedule({ schedules, callWithScope }: RouteContext, workflowId: string) {
  try {
    const schedule = await schedules.getSchedule({ workflowId }, callWithScope("workflows:read"));
    const { id, triggerScheduleId, nextRunAt } = schedule;
    return { id, triggerScheduleId, nextRunAt: nextRunAt ?? null };
  } catch (error) {
    if (isAppError(error) && error.reason === "NOT_FOUND") return undefined;
    throw error;
  }
}
