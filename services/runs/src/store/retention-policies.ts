import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});
const policyRow = z.object({ companyId: z.string(), days: z.number() });

/** The companies' own policies: days by company, 0 for ever (D58). */
export async function listRetentionPolicies(queryable: Queryable): Promise<Map<string, number>> {
  const rows = await queryable.any(sql.type(policyRow)`
    select company_id as "companyId", days from runs.retention_policies
  `);
  return new Map(rows.map(({ companyId, days }) => [companyId, days]));
}

/** Gives a company a policy of its own; null removes it, so that the installation's applies. */
export async function setRetentionPolicy(
  queryable: Queryable,
  companyId: string,
  days: number | null,
): Promise<void> {
  if (days === null) {
    await queryable.query(sql.type(nothing)`
      delete from runs.retention_policies where company_id = ${companyId}
    `);
    return;
  }
  await queryable.query(sql.type(nothing)`
    insert into runs.retention_policies (company_id, days)
    values (${companyId}, ${days})
    on conflict on constraint retention_policies_pkey do update set days = excluded.days
  `);
}
