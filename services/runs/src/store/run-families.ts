import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";

const lastRow = z.object({ lastId: z.string().nullable() });
const rootRow = z.object({ rootRunId: z.string() });

/** Runs that are about to be stored, all of one family. */
export interface FamilyGrowth {
  /** The run from which they descend. */
  rootRunId: string;
  companyId: string;
  by: number;
  /** How many runs may descend from it in all. */
  max: number;
}

/**
 * Counts runs as descendants in the transaction that stores them, and returns whether there is room for
 * all of them. Other transactions that count for the same family wait here, so the limit is exact (D60).
 */
export async function growFamily(
  transaction: Transaction,
  { rootRunId, companyId, by, max }: FamilyGrowth,
): Promise<boolean> {
  const row = await transaction.maybeOne(sql.prepared("family_grow", rootRow)`
    insert into runs.run_families as family (root_run_id, company_id, descendants)
    select ${rootRunId}, ${companyId}::uuid, ${by}::integer
    where ${by}::integer <= ${max}::integer
    on conflict on constraint run_families_pkey do update
    set descendants = family.descendants + excluded.descendants
    where family.descendants + excluded.descendants <= ${max}::integer
    returning root_run_id as "rootRunId"
  `);
  return row !== null;
}

/**
 * Checks the `limit` oldest families after one, and deletes those whose first run was removed. Returns
 * the last family that it has checked; null: there was none. With `offset 0` each run is looked up in its
 * own partition.
 */
export async function deleteEndedFamilies(
  queryable: Queryable,
  afterId: string,
  limit: number,
): Promise<string | null> {
  const { lastId } = await queryable.one(sql.prepared("families_forget", lastRow)`
    with page as materialized (
      select root_run_id from runs.run_families
      where root_run_id > ${afterId} order by root_run_id limit ${limit}
    ), ended as (
      delete from runs.run_families
      where root_run_id = any(array(
        select root_run_id from page
        where not exists (select from runs.runs where id = page.root_run_id offset 0)
      ))
    )
    select max(root_run_id) as "lastId" from page
  `);
  return lastId;
}
