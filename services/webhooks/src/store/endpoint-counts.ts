import { sql } from "@workflow/db";
import type { Queryable, SqlFragment } from "@workflow/db";
import { z } from "zod";

const sizeRow = z.object({ companyId: z.string(), endpoints: z.number() });

/** The limit of a company's endpoints. */
const ENDPOINTS_MAX = 1_000;

/** The number of a company's endpoints, which is the most that an event may have. */
export const countEndpointsOf = (companyId: SqlFragment): SqlFragment => sql.fragment`
  select count(*)::integer as endpoints from (
    select from webhooks.endpoints as endpoint
    where endpoint.company_id = ${companyId}
    limit ${ENDPOINTS_MAX}
  ) as own
`;

/** The number of each company's endpoints. */
export async function countEndpoints(
  queryable: Queryable,
  companyIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await queryable.any(sql.prepared("endpoints_of_companies", sizeRow)`
    select company.id as "companyId", counted.endpoints
    from unnest(${sql.array([...companyIds], "uuid")}) as company (id)
    cross join lateral (${countEndpointsOf(sql.fragment`company.id`)}) as counted
  `);
  return new Map(rows.map(({ companyId, endpoints }) => [companyId, endpoints]));
}
