import { sql } from "@workflow/db";
import type { Database, Queryable } from "@workflow/db";
import { z } from "zod";
import type { Partition } from "./partitions.ts";

const nothing = z.object({});
const idRow = z.object({ id: z.string() });

/** Reading a partition of a hundred million runs takes some minutes. */
const SCAN_TIMEOUT_MS = 15 * 60 * 1_000;

/** The next deployments after one that are at least a day old and not the newest of their workflows. */
export async function listOldDeployments(
  queryable: Queryable,
  afterId: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await queryable.any(sql.type(idRow)`
    select id from runs.deployments as deployment
    where id > ${afterId} and created_at < now() - interval '1 day'
      and not exists (select from runs.deployment_heads where deployment_id = deployment.id)
    order by id
    limit ${limit}
  `);
  return rows.map(({ id }) => id);
}

/**
 * The deployments, of those given, that runs of a partition name. The statement reads the whole partition:
 * an index for it alone would cost each run. Each statement reads one partition, so that no snapshot gets old.
 */
export async function listNamedDeployments(
  database: Database,
  deploymentIds: readonly string[],
  { fromId, toId }: Partition,
): Promise<readonly string[]> {
  return database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`
      select set_config('statement_timeout', ${String(SCAN_TIMEOUT_MS)}, true)
    `);
    const rows = await transaction.any(sql.type(idRow)`
      select distinct deployment_id as id from runs.runs
      where id >= ${fromId} and id < ${toId}
        and deployment_id = any(${sql.array([...deploymentIds], "uuid")})
    `);
    return rows.map(({ id }) => id);
  });
}

/** Deletes deployments that are not the newest of their workflows; returns how many. */
export async function deleteDeployments(
  queryable: Queryable,
  deploymentIds: readonly string[],
): Promise<number> {
  const result = await queryable.query(sql.type(nothing)`
    delete from runs.deployments as deployment
    where id = any(${sql.array([...deploymentIds], "uuid")})
      and not exists (select from runs.deployment_heads where deployment_id = deployment.id)
  `);
  return result.rowCount;
}
