import { NO_BODY, NO_QUERY, route } from "../../route.ts";
import { scheduleJson } from "./schedule-json.ts";
import { scheduleSchema } from "./schedule-schema.ts";

export const getSchedule = route({
  method: "GET",
  path: "/workflows/{id}/schedule",
  scope: "workflows:read",
  bucket: "read",
  summary: "Get the schedule of a workflow",
  description: [
    "The answer says when the schedule fires next, how often it has fired, and what went wrong last.",
    "After ten failures in a row a schedule is disabled, and `lastError` says so.",
    "A workflow that was never activated with a schedule trigger has none: NOT_FOUND.",
  ],
  params: { id: "The workflow's id." },
  query: NO_QUERY,
  body: NO_BODY,
  responses: {
    200: { description: "The schedule, and what it has started so far.", data: scheduleSchema },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ schedules, call }, { params }) => {
    const schedule = await schedules.getSchedule({ workflowId: params.id }, call);
    return { status: 200, data: scheduleJson(schedule) };
  },
});
