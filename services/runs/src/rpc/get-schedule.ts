import type { GetScheduleRequest, Schedule } from "@workflow/proto/runs/v1/schedules";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { findSchedule } from "../store/schedules.ts";
import { requireWorkflow, scheduleNotFound, toScheduleMessage } from "./schedule-message.ts";

/** Returns a workflow's schedule. */
export function getSchedule({
  database,
}: ServiceContext): UnaryMethod<GetScheduleRequest, Schedule> {
  return rpc({
    scopes: "workflows:read",
    async handler({ workflowId }, { identity }) {
      const schedule = await findSchedule(database, requireWorkflow(workflowId, identity));
      if (schedule === null) throw scheduleNotFound();
      return toScheduleMessage(schedule);
    },
  });
}
