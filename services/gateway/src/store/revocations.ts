import { firstIdAt, sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { EVENT_ID_PREFIX } from "@workflow/events";
import { z } from "zod";
import { ROLES } from "../domain/roles.ts";

const identified = z.object({ id: z.string() });
const revokedKey = z.object({ id: z.string(), name: z.string() });
const memberState = z.object({ userId: z.string(), role: z.enum(ROLES).nullable() });
const followUp = z.object({
  action: z.string(),
  resourceType: z.string(),
  resourceId: z.string(),
  at: z.date(),
});

/** A revoked key. */
export type RevokedKey = z.infer<typeof revokedKey>;

/** A member or invitation, and its role at present; null for one that has gone. */
export type MemberState = z.infer<typeof memberState>;

/** A change that a restore undoes, and that only a person can make again. */
export type FollowUp = z.infer<typeof followUp>;

/** The ids of all companies, in ascending order. */
export async function listCompanyIds(database: Queryable): Promise<readonly string[]> {
  const rows = await database.any(sql.type(identified)`
    select id from gateway.companies order by id
  `);
  return rows.map(({ id }) => id);
}

/** Revokes the unrevoked keys of a company that were created before a time. */
export function revokeKeysCreatedBefore(
  database: Queryable,
  companyId: string,
  createdBefore: Date,
): Promise<readonly RevokedKey[]> {
  return database.any(sql.type(revokedKey)`
    update gateway.api_keys
    set revoked_at = now()
    where company_id = ${companyId}
      and revoked_at is null
      and created_at < ${sql.timestamp(createdBefore)}
    returning id, name
  `);
}

/** Revokes those of some keys of a company that are not revoked yet. */
export function revokeKeys(
  database: Queryable,
  companyId: string,
  ids: readonly string[],
): Promise<readonly RevokedKey[]> {
  return database.any(sql.type(revokedKey)`
    update gateway.api_keys
    set revoked_at = now()
    where company_id = ${companyId}
      and revoked_at is null
      and id = any(${sql.array([...ids], "uuid")})
    returning id, name
  `);
}

/**
 * Ends the sessions in a company that began before a time.
 *
 * @returns the number of sessions
 */
export async function deleteSessionsCreatedBefore(
  database: Queryable,
  companyId: string,
  createdBefore: Date,
): Promise<number> {
  const ended = await database.any(sql.type(identified)`
    delete from gateway.sessions
    where company_id = ${companyId} and created_at < ${sql.timestamp(createdBefore)}
    returning id
  `);
  return ended.length;
}

/** The ids of a company's keys that were revoked at or after a time. */
export async function listKeysRevokedSince(
  database: Queryable,
  companyId: string,
  since: Date,
): Promise<readonly string[]> {
  const rows = await database.any(sql.type(identified)`
    select id
    from gateway.api_keys
    where company_id = ${companyId} and revoked_at >= ${sql.timestamp(since)}
    order by id
  `);
  return rows.map(({ id }) => id);
}

/**
 * The members and invitations of a company that were removed, got another role or joined at or
 * after a time, as they are at present. An accepted invitation counts as its member: an older
 * database knows the person under the invitation's id.
 */
export function listMembersChangedSince(
  database: Queryable,
  companyId: string,
  since: Date,
): Promise<readonly MemberState[]> {
  return database.any(sql.type(memberState)`
    with events as (
      select resource_id, changes::jsonb #>> '{invitation,from}' as invitation_id
      from gateway.audit_log
      where company_id = ${companyId}
        and action in ('member.joined', 'member.removed', 'member.role_changed')
        and event_id >= ${firstIdAt(EVENT_ID_PREFIX, since)}
    ),
    changed as (
      select resource_id as user_id, resource_id as known_as from events
      union
      select resource_id, invitation_id from events where invitation_id is not null
    )
    select c.known_as as "userId", coalesce(m.role, i.role) as role
    from changed c
    left join gateway.memberships m
      on m.company_id = ${companyId} and m.user_id = c.user_id::uuid
    left join gateway.invitations i on i.company_id = ${companyId} and i.id = c.user_id::uuid
    order by c.known_as
  `);
}

/** The last of each such change of one object at or after a time, by the object. */
export function listFollowUps(
  database: Queryable,
  companyId: string,
  actions: readonly string[],
  since: Date,
): Promise<readonly FollowUp[]> {
  return database.any(sql.type(followUp)`
    select
      action,
      resource_type as "resourceType",
      resource_id as "resourceId",
      max(created_at) as at
    from gateway.audit_log
    where company_id = ${companyId}
      and action = any(${sql.array([...actions], "text")})
      and event_id >= ${firstIdAt(EVENT_ID_PREFIX, since)}
    group by action, resource_type, resource_id
    order by action, resource_id
  `);
}
