import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";
import type { Status } from "../domain/status.ts";
import { workflowColumns, workflowRow } from "./workflow-row.ts";
import type { WorkflowRow } from "./workflow-row.ts";

/**
 * Bytes of definitions that one page may hold. A page of 100 workflows of 1 MiB each would not fit
 * into a gRPC message (64 MiB); it ends early instead, with more to follow.
 */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/** Which workflows of a company, and from where. */
interface ListFilter {
  companyId: string;
  /** Null: all but archived ones. */
  status: Status | null;
  /** Part of the name, whatever its case; empty: all. */
  search: string;
  limit: number;
  /** The last workflow of the page before; null: from the beginning. */
  after: { createdAt: string; id: string } | null;
}

const listedRow = workflowRow.extend({ found: z.number() });

/** A page, newest first, and whether there is more after it. For the search see `nameContains`. */
export async function listWorkflows(
  database: Queryable,
  { companyId, status, search, limit, after }: ListFilter,
): Promise<{ rows: WorkflowRow[]; hasMore: boolean }> {
  const statusFilter =
    status === null
      ? sql.fragment`workflow.status <> 'archived'`
      : sql.fragment`workflow.status = ${status}`;
  const nameFilter = nameContains(search);
  const afterFilter =
    after === null
      ? sql.fragment`true`
      : sql.fragment`(workflow.created_at, workflow.id) < (${after.createdAt}, ${after.id})`;

  const rows = await database.any(sql.type(listedRow)`
    with page as materialized (
      select workflow.id
      from workflows.workflows as workflow
      where workflow.company_id = ${companyId}
        and ${statusFilter}
        and ${nameFilter}
        and ${afterFilter}
      order by workflow.created_at desc, workflow.id desc
      limit ${limit + 1}
    ),
    measured as (
      select
        workflow.id,
        sum(workflow.content_bytes) over newest_first - workflow.content_bytes as bytes_before
      from page
      join workflows.workflows as workflow on workflow.id = page.id
      window newest_first as (order by workflow.created_at desc, workflow.id desc)
    )
    select ${workflowColumns}, (select count(*) from page) as found
    from measured
    join workflows.workflows as workflow on workflow.id = measured.id
    where measured.bytes_before < ${PAGE_BYTES_MAX}
      and workflow.company_id = ${companyId}
    order by workflow.created_at desc, workflow.id desc
    limit ${limit}
  `);
  return { rows: [...rows], hasMore: (rows[0]?.found ?? 0) > rows.length };
}

/** A trigram of which the index knows whatever the database's locale is. */
const TRIGRAM = /[a-z0-9]{3}/i;

/**
 * Whether the name holds a text, in any case. Of 100,000 workflows of a company, among as many others,
 * the trigram index finds what few names hold within 1.5 ms, and a walk along the list's own index,
 * which has the names in it, what many hold within 1 ms (both without the rows that are then read);
 * the planner decides by its statistics. A text without a trigram would make it read the whole trigram
 * index (400 ms), so it is always looked for along the list: at most 35 ms when it is nowhere.
 */
function nameContains(search: string): SqlFragment {
  if (search === "") return sql.fragment`true`;
  if (!TRIGRAM.test(search)) {
    return sql.fragment`strpos(lower(workflow.name), lower(${search})) > 0`;
  }
  const pattern = `%${search.replaceAll(/[\\%_]/g, "\\$&")}%`;
  return sql.fragment`lower(workflow.name) like lower(${pattern})`;
}
