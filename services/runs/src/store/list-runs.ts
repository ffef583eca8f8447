import { firstIdAt, idTimestamp, sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";
import { RUN_STATUSES, TRIGGER_TYPES } from "../domain/run-status.ts";
import type { RunStatus, TriggerType } from "../domain/run-status.ts";
import { summaryRow } from "./read-runs.ts";
import type { RunSummaryRow } from "./read-runs.ts";

/** With more workflows than this, the newest runs of the company are likely to match. */
const TAGGED_WORKFLOWS_MAX = 20;
/** Long enough to include the month before: two partitions, at most three. */
const RECENT_MS = 35 * 24 * 60 * 60 * 1_000;
const FIRST_ID = "run_";
/** Sorts after every id. */
const LAST_ID = "run_~";

const countRow = z.object({ count: z.number() });
const taggedRow = z.object({ id: z.string(), workflowId: z.string() });

/** Selects the runs of a list. */
export interface RunFilter {
  companyId: string;
  workflowId: string | null;
  /** Empty: any. */
  statuses: readonly RunStatus[];
  triggerType: TriggerType | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
  tag: string | null;
}

/**
 * Runs newest first, after the run with the id `after`; ids sort by time of acceptance.
 *
 * Each combination of trigger and status is a range of an index that has its runs in this order.
 * Combinations that a filter leaves open are merged from the first few runs of each range, so that
 * nothing is read only to be left out. Medians of 41 pages of 51 runs, of a company with 1,480,000
 * (2026-11-21, 2 cores that were busy with other work as well; first page / cursor in the middle): no
 * filter 4.2 / 3.8 ms, failed 3.0 / 2.8, active 2.7 / 2.6, a trigger that five runs have 1.4, trigger and
 * status 1.1, one workflow 2.9 / 3.1, workflow and status 2.7 / 1.6, createdBefore 2.6 / 2.6, a window
 * and a status 2.0 / 2.1, a tag of one workflow 3.1 / 2.5, a tag of 20 workflows 16 / 14.
 */
export async function listRuns(
  queryable: Queryable,
  filter: RunFilter,
  page: { after: string | null; limit: number },
): Promise<readonly RunSummaryRow[]> {
  const { companyId, workflowId, tag } = filter;
  const ids = idsBetween(filter, page.after);
  const base = { filter, ids, limit: page.limit };
  if (tag === null) {
    if (workflowId === null) return listNewest(queryable, { ...base, shape: "company" });
    return listNewest(queryable, { ...base, shape: "workflows", workflowIds: [workflowId] });
  }
  const tagged = (await listTagged(queryable, companyId, tag)).filter(
    (each) => workflowId === null || each.workflowId === workflowId,
  );
  const deploymentIds = tagged.map(({ id }) => id);
  const workflowIds = [...new Set(tagged.map((each) => each.workflowId))];
  if (workflowIds.length === 0) return [];
  if (workflowIds.length > TAGGED_WORKFLOWS_MAX) {
    return listNewest(queryable, { ...base, shape: "company-tagged", deploymentIds });
  }
  // Mostly every version of a workflow has its tags: then the index alone finds the runs.
  return (await countDeployments(queryable, workflowIds)) === deploymentIds.length
    ? listNewest(queryable, { ...base, shape: "workflows", workflowIds })
    : listNewest(queryable, { ...base, shape: "workflows-tagged", workflowIds, deploymentIds });
}

interface IdRange {
  /** Inclusive. */
  from: string;
  /** Exclusive. */
  to: string;
  /** The moment of `to`, but not later than now. */
  end: Date;
}

/** The moment of acceptance is a part of the id. */
function idsBetween({ createdAfter, createdBefore }: RunFilter, after: string | null): IdRange {
  const before = createdBefore === null ? LAST_ID : firstIdAt(FIRST_ID, createdBefore);
  const from = createdAfter === null ? FIRST_ID : firstIdAt(FIRST_ID, createdAfter);
  const now = new Date();
  if (after !== null && after < before)
    return { from, to: after, end: earlier(idTimestamp(after), now) };
  return { from, to: before, end: earlier(createdBefore ?? now, now) };
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/**
 * Whose runs are listed, and whether only those of some deployments. Each combination has a plan of its
 * own.
 */
type Shape = "company" | "company-tagged" | "workflows" | "workflows-tagged";

interface Page {
  shape: Shape;
  filter: RunFilter;
  ids: IdRange;
  limit: number;
  workflowIds?: readonly string[];
  deploymentIds?: readonly string[];
}

/**
 * Searches the last weeks before a page's end first: mostly the page is found there, in two or three
 * partitions. Only the rest of the page is read from all partitions.
 */
async function listNewest(queryable: Queryable, page: Page): Promise<readonly RunSummaryRow[]> {
  const { ids, limit } = page;
  const recentFrom = firstIdAt(FIRST_ID, new Date(ids.end.getTime() - RECENT_MS));
  if (recentFrom <= ids.from) return listPage(queryable, page);
  const newest = await listPage(queryable, { ...page, ids: { ...ids, from: recentFrom } });
  if (newest.length === limit) return newest;
  const older = { ...page, ids: { ...ids, to: recentFrom }, limit: limit - newest.length };
  return [...newest, ...(await listPage(queryable, older))];
}

async function listPage(
  queryable: Queryable,
  { shape, filter, ids, limit, workflowIds = [], deploymentIds = [] }: Page,
): Promise<readonly RunSummaryRow[]> {
  const { companyId, statuses, triggerType } = filter;
  const triggers = triggerType === null ? TRIGGER_TYPES : [triggerType];
  const states = statuses.length === 0 ? RUN_STATUSES : new Set(statuses);
  const ofCompany = shape === "company" || shape === "company-tagged";
  const owners: SqlFragment = ofCompany
    ? sql.fragment`(values (${companyId}::uuid)) as owner (id)`
    : sql.fragment`unnest(${sql.array([...workflowIds], "uuid")}) as owner (id)`;
  const owned: SqlFragment = ofCompany
    ? sql.fragment`company_id = owner.id`
    : sql.fragment`workflow_id = owner.id`;
  // The bounds are sub-selects, so that no plan is made for their values: over partitions that takes
  // longer than the list. `offset 0` has each run looked up in its own partition (ADR 31). Inside
  // coalesce the planner guesses that half of the rows match. From the statistics it would guess next to
  // none, as if deployment and workflow were independent, and would sort them all.
  const tagged: SqlFragment =
    shape === "company-tagged" || shape === "workflows-tagged"
      ? sql.fragment`and coalesce(deployment_id = any(${sql.array([...deploymentIds], "uuid")}), false)`
      : sql.fragment``;
  return queryable.any(sql.prepared(`runs_list_${shape}`, summaryRow)`
    select run.id, run.workflow_id as "workflowId", deployment.name as "workflowName",
      run.workflow_version as "workflowVersion",
      run.status, run.trigger_type as "triggerType", run.error,
      run.restarted_from_run_id as "restartedFromRunId", run.created_at as "createdAt",
      run.started_at as "startedAt", run.completed_at as "completedAt"
    from (
      select hit.id
      from ${owners}
      cross join unnest(${sql.array([...triggers], "text")}) as started (by)
      cross join unnest(${sql.array([...states], "text")}) as state (name)
      cross join lateral (
        select id from runs.runs
        where ${owned} and trigger_type = started.by and status = state.name
          and id < (select ${ids.to}) and id >= (select ${ids.from}) ${tagged}
        order by id desc
        limit ${limit}
      ) as hit
      order by hit.id desc
      limit ${limit}
    ) as page
    cross join lateral (
      select id, workflow_id, deployment_id, workflow_version, status, trigger_type, error,
        restarted_from_run_id, created_at, started_at, completed_at
      from runs.runs
      where id = page.id and company_id = ${companyId}
      offset 0
    ) as run
    join runs.deployments as deployment on deployment.id = run.deployment_id
    order by run.id desc
  `);
}

/** The deployments of a company that have a tag. */
async function listTagged(queryable: Queryable, companyId: string, tag: string) {
  return queryable.any(sql.prepared("deployments_tagged", taggedRow)`
    select id, workflow_id as "workflowId" from runs.deployments
    where tags @> ${sql.array([tag], "text")} and company_id = ${companyId}
  `);
}

async function countDeployments(queryable: Queryable, workflowIds: readonly string[]) {
  const row = await queryable.one(sql.prepared("deployments_count", countRow)`
    select count(*) as count from runs.deployments
    where workflow_id = any(${sql.array([...workflowIds], "uuid")})
  `);
  return row.count;
}
