import { constraintOf, sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";

/**
 * The bytes of schemas on one page, unless the first tool alone has more. Clients that list tools
 * for a model read whole pages, and a hundred schemas of 1 MiB each would not fit into a gRPC
 * message.
 */
const PAGE_BYTES_MAX = 512 * 1024;

const toolRow = z.object({
  workflowId: z.string(),
  name: z.string(),
  description: z.string(),
  title: z.string(),
  inputSchemaJson: z.string().nullable(),
  outputSchemaJson: z.string().nullable(),
});

/** An active workflow that is offered as a tool. */
export type ToolRow = z.infer<typeof toolRow>;

const listedRow = toolRow.extend({ found: z.number() });

const toolColumns = sql.fragment`
  workflow.id as "workflowId",
  workflow.settings #>> '{mcp,name}' as name,
  workflow.settings #>> '{mcp,description}' as description,
  workflow.name as title,
  workflow.input_schema::text as "inputSchemaJson",
  workflow.output_schema::text as "outputSchemaJson"
`;

/** Tools after a name, in the order of their names, and whether more follow. */
export async function listTools(
  database: Queryable,
  { companyId, after, limit }: { companyId: string; after: string; limit: number },
): Promise<{ tools: ToolRow[]; hasMore: boolean }> {
  const rows = await database.any(sql.prepared("workflows_list_tools", listedRow)`
    with page as materialized (
      select workflow.id, workflow.settings #>> '{mcp,name}' as name
      from workflows.workflows as workflow
      where workflow.company_id = ${companyId}
        and workflow.status = 'active'
        and workflow.settings #>> '{mcp,name}' is not null
        and workflow.settings #>> '{mcp,name}' > ${after}
      order by workflow.settings #>> '{mcp,name}'
      limit ${limit + 1}
    ),
    measured as (
      select
        page.id,
        row_number() over (order by page.name) as place,
        sum(
          coalesce(octet_length(workflow.input_schema::text), 0)
          + coalesce(octet_length(workflow.output_schema::text), 0)
        ) over (order by page.name) as bytes
      from page
      join workflows.workflows as workflow on workflow.id = page.id
    )
    select ${toolColumns}, (select count(*)::integer from page) as found
    from measured
    join workflows.workflows as workflow on workflow.id = measured.id
    where (measured.bytes <= ${PAGE_BYTES_MAX} or measured.place = 1)
      and workflow.company_id = ${companyId}
    order by workflow.settings #>> '{mcp,name}'
    limit ${limit}
  `);
  return { tools: [...rows], hasMore: (rows[0]?.found ?? 0) > rows.length };
}

/** The tool of a name, or null. */
export async function findTool(
  database: Queryable,
  { companyId, name }: { companyId: string; name: string },
): Promise<ToolRow | null> {
  return database.maybeOne(sql.prepared("workflows_find_tool", toolRow)`
    select ${toolColumns}
    from workflows.workflows as workflow
    where workflow.company_id = ${companyId}
      and workflow.status = 'active'
      and workflow.settings #>> '{mcp,name}' = ${name}
  `);
}

/** Translates the refusal of a change whose tool name is taken. Throws always. */
export function refuseTakenName(error: unknown): never {
  if (constraintOf(error) !== "workflows_tools_idx") throw error;
  const message = "is the tool of another active workflow";
  throw new AppError("CONFLICT", `settings.mcp.name ${message}.`, {
    violations: [{ path: ["settings", "mcp", "name"], message }],
    cause: error,
  });
}
