import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
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

/** A page, newest first, and whether there is more after it. */
export async function listWorkflows(
  database: Queryable,
  { companyId, status, search, limit, after }: ListFilter,
): Promise<{ rows: WorkflowRow[]; hasMore: boolean }> {
  const statusFilter =
    status === null
      ? sql.fragment`workflow.status <> 'archived'`
      : sql.fragment`workflow.status = ${status}`;
  const nameFilter =
    search === ""
      ? sql.fragment`true`
      : sql.fragment`strpos(lower(workflow.name), lower(${search})) > 0`;
  const afterFilter =
    after === null
      ? sql.fragment`true`
      : sql.fragment`(workflow.created_at, workflow.id) < (${after.createdAt}, ${after.id})`;

  const rows = await database.any(sql.type(listedRow)`
    with page as (
      select
        workflow.id,
        sum(workflow.content_bytes) over newest_first - workflow.content_bytes as bytes_before
      from workflows.workflows as workflow
      where workflow.company_id = ${companyId}
        and ${statusFilter}
        and ${nameFilter}
        and ${afterFilter}
      window newest_first as (order by workflow.created_at desc, workflow.id desc)
      order by workflow.created_at desc, workflow.id desc
      limit ${limit + 1}
    )
    select ${workflowColumns}, (select count(*) from page) as found
    from page
    join workflows.workflows as workflow on workflow.id = page.id
    where page.bytes_before < ${PAGE_BYTES_MAX}
      and workflow.company_id = ${companyId}
    order by workflow.created_at desc, workflow.id desc
    limit ${limit}
  `);
  return { rows: [...rows], hasMore: (rows[0]?.found ?? 0) > rows.length };
}
