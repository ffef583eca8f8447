import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { getWorkflow } from "./get-workflow.ts";
import type { WorkflowKey } from "./workflow-row.ts";

/** One version of a workflow, current or archived; JSON as its caller's text. */
const versionRow = z.object({
  version: z.number(),
  name: z.string(),
  description: z.string().nullable(),
  triggerJson: z.string(),
  stepsJson: z.string(),
  inputSchemaJson: z.string().nullable(),
  outputSchemaJson: z.string().nullable(),
  settingsJson: z.string().nullable(),
  changeSummary: z.string().nullable(),
  isCurrent: z.boolean(),
  createdAt: z.date(),
});

/** One version of a workflow, current or archived; JSON as its caller's text. */
export type VersionRow = z.infer<typeof versionRow>;

const versionColumns = sql.fragment`
  version.version,
  version.name,
  version.description,
  version.trigger::text as "triggerJson",
  version.steps::text as "stepsJson",
  version.input_schema::text as "inputSchemaJson",
  version.output_schema::text as "outputSchemaJson",
  version.settings::text as "settingsJson",
  version.change_summary as "changeSummary",
  version.is_current as "isCurrent",
  version.created_at as "createdAt"
`;

/** Both tables as one; the current version is the one that stands in the workflow itself. */
const allVersions = sql.fragment`
  select
    current.company_id, current.id as workflow_id, current.version, current.name,
    current.description, current.trigger, current.steps, current.input_schema,
    current.output_schema, current.settings, current.canvas_state, current.content_bytes,
    current.change_summary, true as is_current, current.version_created_at as created_at
  from workflows.workflows as current
  union all
  select
    archived.company_id, archived.workflow_id, archived.version, archived.name,
    archived.description, archived.trigger, archived.steps, archived.input_schema,
    archived.output_schema, archived.settings, archived.canvas_state, archived.content_bytes,
    archived.change_summary, false, archived.created_at
  from workflows.workflow_versions as archived
`;

/**
 * @throws AppError NOT_FOUND for a missing version, and like `getWorkflow` for a missing workflow
 */
export async function getVersion(
  database: Queryable,
  key: WorkflowKey,
  version: number,
): Promise<VersionRow> {
  const row = await database.maybeOne(sql.prepared("workflows_get_version", versionRow)`
    select ${versionColumns}
    from (${allVersions}) as version
    where version.company_id = ${key.companyId}
      and version.workflow_id = ${key.workflowId}
      and version.version = ${version}
  `);
  return row ?? throwNotFound(database, key);
}

const restorableRow = versionRow.extend({ canvasStateJson: z.string().nullable() });

/** Like `getVersion`, with the visual editor's state, which a rollback takes over as well. */
export async function getRestorableVersion(
  database: Queryable,
  key: WorkflowKey,
  version: number,
): Promise<z.infer<typeof restorableRow>> {
  const row = await database.maybeOne(sql.prepared(
    "workflows_get_restorable_version",
    restorableRow,
  )`
    select
      ${versionColumns},
      version.canvas_state::text as "canvasStateJson"
    from (${allVersions}) as version
    where version.company_id = ${key.companyId}
      and version.workflow_id = ${key.workflowId}
      and version.version = ${version}
  `);
  return row ?? throwNotFound(database, key);
}

/** Which versions of a workflow, and from where. */
interface ListOptions {
  limit: number;
  /** The last version of the page before; null: from the newest. */
  before: number | null;
}

/**
 * Bytes of definitions that one page may hold: 1,000 versions of 1 MiB would not fit into a gRPC
 * message (64 MiB). A page ends early instead, with more to follow.
 */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Taken for versions whose size is not recorded. */
const VERSION_BYTES_MAX = 1024 * 1024;

/** A version's number is a 32-bit integer. */
const ABOVE_ALL = 2 ** 31;

const listedRow = versionRow.extend({ found: z.number() });

/** A page, newest first, and whether there is more after it. Of a missing workflow it is empty. */
export async function listVersions(
  database: Queryable,
  key: WorkflowKey,
  { limit, before }: ListOptions,
): Promise<{ rows: VersionRow[]; hasMore: boolean }> {
  const rows = await database.any(sql.prepared("workflows_list_versions", listedRow)`
    with page as (
      select
        version.version,
        sum(coalesce(version.content_bytes, ${VERSION_BYTES_MAX})) over newest_first
          - coalesce(version.content_bytes, ${VERSION_BYTES_MAX}) as bytes_before
      from (${allVersions}) as version
      where version.company_id = ${key.companyId}
        and version.workflow_id = ${key.workflowId}
        and version.version < ${before ?? ABOVE_ALL}::bigint
      window newest_first as (order by version.version desc)
      order by version.version desc
      limit ${limit + 1}
    )
    select ${versionColumns}, (select count(*) from page) as found
    from page
    join (${allVersions}) as version on version.version = page.version
    where page.bytes_before < ${PAGE_BYTES_MAX}
      and version.company_id = ${key.companyId}
      and version.workflow_id = ${key.workflowId}
    order by version.version desc
    limit ${limit}
  `);
  return { rows: [...rows], hasMore: (rows[0]?.found ?? 0) > rows.length };
}

async function throwNotFound(database: Queryable, key: WorkflowKey): Promise<never> {
  await getWorkflow(database, key);
  throw new AppError("NOT_FOUND", "Workflow version not found");
}
