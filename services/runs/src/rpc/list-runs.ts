import { isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import { TriggerType } from "@workflow/proto/runs/v1/run";
import type { ListRunsRequest, ListRunsResponse } from "@workflow/proto/runs/v1/runs";
import { parseTime, rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { RUN_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";
import type { RunStatus, TriggerType as DomainTrigger } from "../domain/run-status.ts";
import { listRuns as listRows } from "../store/list-runs.ts";
import type { RunFilter } from "../store/list-runs.ts";
import { MESSAGE_STATUS, MESSAGE_TRIGGER, toRunSummary } from "./run-message.ts";

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;
const TAG_CHARS_MAX = 255;

/** Lists runs, newest first, without their documents. */
export function listRuns({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListRunsRequest, ListRunsResponse> {
  return rpc({
    scopes: "runs:read",
    async handler(request, { identity }) {
      const limit = parseLimit(request.page?.limit ?? 0);
      const filter = parseFilter(request, identity.companyId);
      const binding = JSON.stringify(["runs", filter]);
      const cursor = request.page?.cursor ?? "";
      const after = cursor === "" ? null : (cursors.decode(binding, cursor)[0] ?? null);
      const names = request.workflowId === "" || isUuid(request.workflowId);
      const rows = names ? await listRows(database, filter, { after, limit: limit + 1 }) : [];
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        runs: page.map(toRunSummary),
        page: {
          cursor: last === undefined ? "" : cursors.encode(binding, [last.id]),
          hasMore: last !== undefined,
        },
      };
    },
  });
}

/**
 * The length of a page: 1 to 100, 0 for the default.
 *
 * @throws AppError BAD_REQUEST
 */
export function parseLimit(limit: number): number {
  if (limit === 0) return LIMIT_DEFAULT;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw badRequest("limit", `must be between 1 and ${LIMIT_MAX}`);
}

/**
 * The filters of a list.
 *
 * @throws AppError BAD_REQUEST naming the field that is wrong
 */
export function parseFilter(request: ListRunsRequest, companyId: string): RunFilter {
  return {
    companyId,
    workflowId: request.workflowId === "" ? null : request.workflowId,
    statuses: request.statuses.map(parseStatus),
    triggerType: parseTrigger(request.triggerType),
    createdAfter: parseTime("createdAfter", request.createdAfter),
    createdBefore: parseTime("createdBefore", request.createdBefore),
    tag: parseTag(request.tag),
  };
}

function parseStatus(status: ListRunsRequest["statuses"][number]): RunStatus {
  const known = RUN_STATUSES.find((each) => MESSAGE_STATUS[each] === status);
  if (known !== undefined) return known;
  throw badRequest("status", `must be one of ${RUN_STATUSES.join(", ")}`);
}

function parseTrigger(type: TriggerType): DomainTrigger | null {
  if (type === TriggerType.UNSPECIFIED) return null;
  const known = TRIGGER_TYPES.find((each) => MESSAGE_TRIGGER[each] === type);
  if (known !== undefined) return known;
  throw badRequest("triggerType", `must be one of ${TRIGGER_TYPES.join(", ")}`);
}

function parseTag(tag: string): string | null {
  if (tag === "") return null;
  if (tag.length <= TAG_CHARS_MAX && isStorableText(tag)) return tag;
  throw badRequest("tag", `must be at most ${TAG_CHARS_MAX} characters of well-formed text`);
}

function badRequest(field: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `${field} ${message}.`, {
    violations: [{ path: [field], message }],
  });
}
