import { parseScheduleChange } from "@workflow/definition";
import type { ScheduleChangeResult } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import { IntervalUnit } from "@workflow/proto/runs/v1/schedules";
import type { Schedule, UpdateScheduleRequest } from "@workflow/proto/runs/v1/schedules";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { changeSchedule } from "../schedules/change-schedule.ts";
import { scheduleChanges } from "../schedules/schedule-audit.ts";
import { lockSchedule, putSchedule } from "../store/schedules.ts";
import { requireWorkflow, scheduleNotFound, toScheduleMessage } from "./schedule-message.ts";

const UNIT_NAMES = new Map<IntervalUnit, string>([
  [IntervalUnit.MINUTES, "minutes"],
  [IntervalUnit.HOURS, "hours"],
  [IntervalUnit.DAYS, "days"],
  [IntervalUnit.WEEKS, "weeks"],
]);

/** Changes when a workflow's schedule fires, or whether it does. */
export function updateSchedule({
  database,
  now,
  audit,
}: ServiceContext): UnaryMethod<UpdateScheduleRequest, Schedule> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, context) {
      const workflow = requireWorkflow(request.workflowId, context.identity);
      const times = parseTimes(request);
      const schedule = await database.transaction(async (transaction) => {
        const current = await lockSchedule(transaction, workflow);
        if (current === null) throw scheduleNotFound();
        const changed = changeSchedule(current, { ...times, enabled: request.enabled }, now());
        await putSchedule(transaction, changed);
        await audit.record(transaction, context, {
          action: "schedule.updated",
          resourceType: "schedule",
          resourceId: changed.id,
          changes: scheduleChanges(current, changed),
        });
        return changed;
      });
      audit.wake();
      return toScheduleMessage(schedule);
    },
  });
}

type Times = Extract<ScheduleChangeResult, { ok: true }>["change"];

function parseTimes({ cron, interval, timezone }: UpdateScheduleRequest): Times {
  const result = parseScheduleChange({
    ...(cron === undefined ? {} : { cron }),
    ...(interval === undefined
      ? {}
      : { interval: { value: interval.value, unit: UNIT_NAMES.get(interval.unit) } }),
    ...(timezone === undefined ? {} : { timezone }),
  });
  if (result.ok) return result.change;
  const { violations } = result;
  const [first] = violations;
  const text = first === undefined ? "" : `: ${first.path.join(".")} ${first.message}`;
  throw new AppError("BAD_REQUEST", `The schedule is not valid${text}.`, { violations });
}
