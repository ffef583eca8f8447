import { isUuid } from "@workflow/db";
import { invalidRequest } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { TriggerType } from "@workflow/proto/runs/v1/run";
import type { GetRunStatsRequest, RunFigures, RunStats } from "@workflow/proto/runs/v1/stats";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { TRIGGER_TYPES } from "../domain/run-status.ts";
import { readStats } from "../store/run-stats.ts";
import type { StatsFilter, StatsRow } from "../store/run-stats.ts";
import { MESSAGE_STATUS, MESSAGE_TRIGGER } from "./run-message.ts";

const BUCKETS_MAX = 500;
const BUCKET_MS_MIN = 1_000;

const NO_RUNS: RunFigures = { count: 0, statuses: [], successRate: undefined, duration: undefined };

/** Adds up the runs of a period, in all and by bucket. */
export function getRunStats({
  database,
  statistics,
}: ServiceContext): UnaryMethod<GetRunStatsRequest, RunStats> {
  return rpc({
    scopes: "runs:read",
    async handler(request, { identity, signal }) {
      const { companyId } = identity;
      const filter = parseFilter(request, companyId);
      const names = filter.workflowId === null || isUuid(filter.workflowId);
      const rows = names
        ? await statistics.read(companyId, signal, () => readStats(database, filter))
        : [];
      const figures = new Map(rows.map((row) => [row.bucket, toFigures(row)]));
      return {
        total: figures.get(null) ?? NO_RUNS,
        buckets: bucketsOf(filter).map(({ from, to }) => ({
          from: new Date(from),
          to: new Date(to),
          figures: figures.get(from) ?? NO_RUNS,
        })),
      };
    },
  });
}

function parseFilter(request: GetRunStatsRequest, companyId: string): StatsFilter {
  const violations: Violation[] = [];
  const from = request.from ?? new Date(Number.NaN);
  const to = request.to ?? new Date(Number.NaN);
  if (!isDated(from)) violations.push({ path: ["from"], message: YEARS });
  if (!isDated(to)) violations.push({ path: ["to"], message: YEARS });
  if (violations.length > 0) throw invalidRequest(violations);
  if (from >= to) violations.push({ path: ["to"], message: "must be later than from" });
  const { bucketMs } = request;
  if (bucketMs < BUCKET_MS_MIN) {
    violations.push({ path: ["bucketMs"], message: `must be at least ${BUCKET_MS_MIN}` });
  } else if ((to.getTime() - from.getTime()) / bucketMs > BUCKETS_MAX) {
    const message = `must divide the time into at most ${BUCKETS_MAX} buckets`;
    violations.push({ path: ["bucketMs"], message });
  }
  const triggerType = TRIGGER_TYPES.find((each) => MESSAGE_TRIGGER[each] === request.triggerType);
  if (triggerType === undefined && request.triggerType !== TriggerType.UNSPECIFIED) {
    const message = `must be one of ${TRIGGER_TYPES.join(", ")}`;
    violations.push({ path: ["triggerType"], message });
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return {
    companyId,
    workflowId: request.workflowId === "" ? null : request.workflowId,
    triggerType: triggerType ?? null,
    from,
    to,
    bucketMs,
  };
}

const YEARS = "must be a time of the years 1970 to 9999";

/** Ids hold no time before 1970. */
function isDated(time: Date): boolean {
  const year = time.getUTCFullYear();
  return year >= 1970 && year <= 9999;
}

function bucketsOf({ from, to, bucketMs }: StatsFilter): { from: number; to: number }[] {
  const buckets: { from: number; to: number }[] = [];
  for (let start = from.getTime(); start < to.getTime(); start += bucketMs) {
    buckets.push({ from: start, to: Math.min(start + bucketMs, to.getTime()) });
  }
  return buckets;
}

function toFigures({ statuses, counts, p50, p95, p99 }: StatsRow): RunFigures {
  const countOf = new Map(statuses.map((status, index) => [status, counts[index] ?? 0]));
  const completed = countOf.get("completed") ?? 0;
  const executed = completed + (countOf.get("failed") ?? 0) + (countOf.get("timeout") ?? 0);
  return {
    count: [...countOf.values()].reduce((sum, count) => sum + count, 0),
    statuses: [...countOf].map(([status, count]) => ({ status: MESSAGE_STATUS[status], count })),
    successRate: executed === 0 ? undefined : completed / executed,
    duration:
      p50 === null || p95 === null || p99 === null
        ? undefined
        : { p50Ms: p50, p95Ms: p95, p99Ms: p99 },
  };
}
