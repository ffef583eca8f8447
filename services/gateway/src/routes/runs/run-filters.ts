import { RunStatus, TriggerType } from "@workflow/proto/runs/v1/run";
import type { ListRunsRequest } from "@workflow/proto/runs/v1/runs";
import { z } from "zod";
import { pageFields, timestamp } from "../fields.ts";
import { RUN_STATUSES, TRIGGER_TYPES } from "./run-json.ts";
import { namesOf } from "../answer-schemas.ts";

/** The statuses that `status=active` stands for. */
const ACTIVE_STATUSES = [RunStatus.PENDING, RunStatus.RUNNING, RunStatus.WAITING_APPROVAL];

/** The filters of a list's query or of a body (D33). */
export const filterFields = {
  status: z
    .enum([...namesOf(RUN_STATUSES).options, "active"])
    .optional()
    .describe("Only runs of this status; active is pending, running or waiting_approval."),
  triggerType: namesOf(TRIGGER_TYPES).optional().describe("Only runs that this started."),
  createdAfter: timestamp.optional().describe("Only runs that were started then or later."),
  createdBefore: timestamp.optional().describe("Only runs that were started earlier."),
  tag: z
    .string()
    .max(255, "must have at most 255 characters")
    .default("")
    .describe("Only runs of workflows with this word among settings.tags.")
    .meta({ examples: ["billing"] }),
};

/** The query parameters of run lists. */
export const runFilters = z.object({ ...filterFields, ...pageFields });

const anyFilter = z.object(filterFields);

/** The request for a page of runs: of one workflow, or of all with an empty id. */
export function toListRunsRequest(
  workflowId: string,
  filters: z.output<typeof runFilters>,
): ListRunsRequest {
  const { limit, cursor } = filters;
  return { ...toRunFilter(workflowId, filters), page: { limit, cursor } };
}

/** The same filters without a page. */
export function toRunFilter(
  workflowId: string,
  filters: z.output<typeof anyFilter>,
): ListRunsRequest {
  const { status, triggerType, createdAfter, createdBefore, tag } = filters;
  return {
    workflowId,
    statuses: toStatuses(status),
    triggerType: triggerType === undefined ? TriggerType.UNSPECIFIED : TRIGGER_TYPES[triggerType],
    createdAfter,
    createdBefore,
    tag,
    page: undefined,
  };
}

function toStatuses(status: keyof typeof RUN_STATUSES | "active" | undefined): RunStatus[] {
  if (status === undefined) return [];
  return status === "active" ? [...ACTIVE_STATUSES] : [RUN_STATUSES[status]];
}
