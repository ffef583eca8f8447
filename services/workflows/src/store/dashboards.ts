import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";

/** A dashboard as stored, without its widgets. */
const dashboardRow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  ownerId: z.string(),
  widgetCount: z.number(),
  createdAt: z.date(),
  updatedAt: z.date(),
});

/** A dashboard as stored, without its widgets. */
export type DashboardRow = z.output<typeof dashboardRow>;

/** Names one dashboard of one company. */
export interface DashboardKey {
  companyId: string;
  dashboardId: string;
}

const columns = sql.fragment`
  dashboard.id,
  dashboard.name,
  dashboard.description,
  dashboard.owner_id as "ownerId",
  (
    select count(*) from workflows.dashboard_widgets as widget
    where widget.dashboard_id = dashboard.id
  ) as "widgetCount",
  dashboard.created_at as "createdAt",
  dashboard.updated_at as "updatedAt"
`;

/** Stores a new dashboard. */
export async function insertDashboard(
  database: Queryable,
  { companyId, dashboardId }: DashboardKey,
  fields: { ownerId: string; name: string; description: string | null },
): Promise<DashboardRow> {
  return database.one(sql.type(dashboardRow)`
    insert into workflows.dashboards as dashboard (id, company_id, owner_id, name, description)
    values (${dashboardId}, ${companyId}, ${fields.ownerId}, ${fields.name}, ${fields.description})
    returning ${columns}
  `);
}

/** @throws AppError NOT_FOUND for a dashboard that is missing or of another company */
export async function getDashboard(database: Queryable, key: DashboardKey): Promise<DashboardRow> {
  const row = await database.maybeOne(sql.type(dashboardRow)`
    select ${columns}
    from workflows.dashboards as dashboard
    where dashboard.id = ${key.dashboardId}
      and dashboard.company_id = ${key.companyId}
  `);
  if (row === null) throw dashboardNotFound();
  return row;
}

/**
 * The dashboard, kept from other changes until the transaction ends.
 *
 * @throws AppError NOT_FOUND also when it is somebody else's
 */
export async function lockOwnDashboard(
  transaction: Transaction,
  key: DashboardKey,
  ownerId: string,
): Promise<DashboardRow> {
  const locked = await transaction.maybeOne(sql.type(z.object({ id: z.string() }))`
    select dashboard.id
    from workflows.dashboards as dashboard
    where dashboard.id = ${key.dashboardId}
      and dashboard.company_id = ${key.companyId}
      and dashboard.owner_id = ${ownerId}
    for update
  `);
  if (locked === null) throw dashboardNotFound();
  // A statement of its own: what it counts must not be older than the lock.
  return getDashboard(transaction, key);
}

/** A page of a company's dashboards, newest first, from after `after`; one more than it holds. */
export async function listDashboards(
  database: Queryable,
  companyId: string,
  page: { limit: number; after: { createdAt: string; id: string } | null },
): Promise<readonly DashboardRow[]> {
  const { limit, after } = page;
  const afterFilter =
    after === null
      ? sql.fragment``
      : sql.fragment`and (dashboard.created_at, dashboard.id) < (${after.createdAt}, ${after.id})`;
  return database.any(sql.type(dashboardRow)`
    select ${columns}
    from workflows.dashboards as dashboard
    where dashboard.company_id = ${companyId} ${afterFilter}
    order by dashboard.created_at desc, dashboard.id desc
    limit ${limit + 1}
  `);
}

/** Stores name and description of a dashboard that is locked. */
export async function updateDashboard(
  transaction: Transaction,
  { companyId, dashboardId }: DashboardKey,
  { name, description }: { name: string; description: string | null },
): Promise<DashboardRow> {
  return transaction.one(sql.type(dashboardRow)`
    update workflows.dashboards as dashboard
    set name = ${name}, description = ${description}, updated_at = clock_timestamp()
    where dashboard.id = ${dashboardId} and dashboard.company_id = ${companyId}
    returning ${columns}
  `);
}

/** Notes that widgets of a dashboard that is locked have changed; returns when. */
export async function touchDashboard(
  transaction: Transaction,
  { companyId, dashboardId }: DashboardKey,
): Promise<Date> {
  const row = await transaction.one(sql.type(z.object({ updatedAt: z.date() }))`
    update workflows.dashboards
    set updated_at = clock_timestamp()
    where id = ${dashboardId} and company_id = ${companyId}
    returning updated_at as "updatedAt"
  `);
  return row.updatedAt;
}

/** Deletes a dashboard that is locked, with its widgets. */
export async function deleteDashboard(
  transaction: Transaction,
  { companyId, dashboardId }: DashboardKey,
): Promise<void> {
  await transaction.query(sql.type(z.object({}))`
    delete from workflows.dashboards
    where id = ${dashboardId} and company_id = ${companyId}
  `);
}

/** The one answer for a dashboard that is missing, another's to change, or has no id at all (D1). */
export function dashboardNotFound(): AppError {
  return new AppError("NOT_FOUND", "Dashboard not found");
}
