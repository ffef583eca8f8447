import { Turns } from "@workflow/async";
import { isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { toOutboxRow } from "@workflow/events";
import type {
  ListEndEventsRequest,
  ListEndEventsResponse,
} from "@workflow/proto/runs/v1/run_events";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { endedEvent, startedEvent } from "../journal/run-events.ts";
import { listEndedRuns } from "../store/list-ended-runs.ts";
import type { EndedRunRow, EndsFilter } from "../store/list-ended-runs.ts";

const COMPANIES_MAX = 1_000;
/** Pages that a process makes at the same time. Each reads all runs that ended at about that time. */
const AT_A_TIME = 2;
/** A run that has ended makes at most two events. */
const PAGE_SIZE = { min: 2, max: 1_000 } as const;

/** Makes the events of ended runs again, for a consumer that may have missed them. */
export function listEndEvents({
  database,
  cursors,
}: ServiceContext): UnaryMethod<ListEndEventsRequest, ListEndEventsResponse> {
  const turns = new Turns({ perTenant: AT_A_TIME });
  return rpc({
    scopes: "internal:run_events",
    async handler(request, { identity, signal }) {
      const filter = parseFilter(request);
      const limit = Math.floor(parsePageSize(request.pageSize) / 2);
      const binding = JSON.stringify(["end events", filter]);
      const { pageToken } = request;
      const after = pageToken === "" ? null : toPosition(cursors.decode(binding, pageToken));
      const leave = await turns.take(identity.principal.id, signal);
      const rows = await listEndedRuns(database, { ...filter, after, limit: limit + 1 }).finally(
        leave,
      );
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        eventsJson: page.flatMap(toEvents),
        nextPageToken: last === undefined ? "" : cursors.encode(binding, positionOf(last)),
      };
    },
  });
}

function toEvents(row: EndedRunRow): string[] {
  const { status, completedAt, error, startedAt } = row;
  // A run is cancelled by a request of its own, whose id is not kept.
  const byCaller = status === "cancelled" && error === null;
  const ended = endedEvent(byCaller ? { ...row, requestId: null } : row, {
    status,
    completedAt,
    error,
  });
  const events = startedAt === null ? [ended] : [startedEvent({ ...row, startedAt }), ended];
  return events.map((event) => toOutboxRow(event).payload);
}

function positionOf({ completedAt, id }: EndedRunRow): string[] {
  return [completedAt.toISOString(), id];
}

/** This service made the token, or it would not have been accepted. */
function toPosition([completedAt = "", runId = ""]: readonly string[]): EndsFilter["after"] {
  return { completedAt: new Date(completedAt), runId };
}

function parseFilter(request: ListEndEventsRequest): Omit<EndsFilter, "after" | "limit"> {
  const { companyIds, endedFrom, endedBefore } = request;
  if (companyIds.length > COMPANIES_MAX || !companyIds.every(isUuid)) {
    throw badRequest("company_ids", `must be at most ${COMPANIES_MAX} UUIDs`);
  }
  return {
    companyIds,
    from: parseTime("ended_from", endedFrom),
    before: parseTime("ended_before", endedBefore),
  };
}

function parsePageSize(size: number): number {
  if (size >= PAGE_SIZE.min && size <= PAGE_SIZE.max) return size;
  throw badRequest("page_size", `must be between ${PAGE_SIZE.min} and ${PAGE_SIZE.max}`);
}

/** A Timestamp has a larger range than both a Date and Postgres' `timestamptz`. */
function parseTime(field: string, time: Date | undefined): Date {
  const year = time?.getUTCFullYear() ?? 0;
  if (time !== undefined && year >= 1 && year <= 9999) return time;
  throw badRequest(field, "must be a time of the years 1 to 9999");
}

function badRequest(field: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `${field} ${message}.`, {
    violations: [{ path: [field], message }],
  });
}
