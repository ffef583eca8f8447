import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";

const claimedRow = z.object({
  id: z.string(),
  companyId: z.string(),
  provider: z.string(),
  path: z.string().nullable(),
  payloadJson: z.string(),
  triggerJson: z.string(),
  requestId: z.string().nullable(),
  attempts: z.number(),
  createdAt: z.date(),
});
const ownerlessRow = z.object({
  id: z.string(),
  provider: z.string(),
  accountIds: z.array(z.string()),
  attempts: z.number(),
  createdAt: z.date(),
});
const idRow = z.object({ id: z.string() });
const nothing = z.object({});
const companyRow = z.object({ companyId: z.string().nullable() });

/** An event that this process may start, until its lease ends. */
export type ClaimedEvent = z.infer<typeof claimedRow>;
/** An event whose company is not known yet. */
export type OwnerlessEvent = z.infer<typeof ownerlessRow>;

/** The number of companies that one claim serves, and of events for each. */
const COMPANIES_MAX = 20;
const EVENTS_PER_COMPANY_MAX = 20;
const OWNERLESS_MAX = 50;

/** As many companies as one claim visits. */
export const CLAIM_COMPANIES_MAX = COMPANIES_MAX;

/**
 * Claims due events of the companies that follow `afterCompany`, some of each (D57).
 *
 * @param leaseSeconds the time for which nobody else may claim them
 */
export async function claimDueEvents(
  queryable: Queryable,
  afterCompany: string,
  leaseSeconds: number,
): Promise<readonly ClaimedEvent[]> {
  return queryable.any(sql.prepared("inbound_claim_due", claimedRow)`
    with recursive companies (company_id, place) as (
      (
        select company_id, 1 from webhooks.inbound_events
        where due_at is not null and due_at <= now() and company_id > ${afterCompany}::uuid
        order by company_id
        limit 1
      )
      union all
      select (
        select next.company_id from webhooks.inbound_events as next
        where next.due_at is not null and next.due_at <= now()
          and next.company_id > companies.company_id
        order by next.company_id
        limit 1
      ), place + 1
      from companies
      where companies.company_id is not null and place < ${COMPANIES_MAX}
    ), due as (
      select event.id
      from companies
      cross join lateral (
        select id from webhooks.inbound_events
        where company_id = companies.company_id and due_at is not null and due_at <= now()
        order by due_at
        limit ${EVENTS_PER_COMPANY_MAX}
        for update skip locked
      ) as event
    )
    update webhooks.inbound_events as event
    set status = 'processing', attempts = event.attempts + 1,
      due_at = now() + make_interval(secs => ${leaseSeconds})
    from due
    where event.id = due.id
    returning event.id, event.company_id as "companyId", event.provider, event.path,
      event.payload::text as "payloadJson", event.trigger_data::text as "triggerJson",
      event.request_id as "requestId", event.attempts, event.created_at as "createdAt"
  `);
}

/** Claims events whose companies are still to be found, the oldest first. */
export async function claimOwnerlessEvents(
  queryable: Queryable,
  leaseSeconds: number,
): Promise<readonly OwnerlessEvent[]> {
  return queryable.any(sql.prepared("inbound_claim_ownerless", ownerlessRow)`
    with due as (
      select id from webhooks.inbound_events
      where company_id is null and due_at is not null and due_at <= now()
      order by due_at
      limit ${OWNERLESS_MAX}
      for update skip locked
    )
    update webhooks.inbound_events as event
    set status = 'processing', attempts = event.attempts + 1,
      due_at = now() + make_interval(secs => ${leaseSeconds})
    from due
    where event.id = due.id
    returning event.id, event.provider, event.account_ids as "accountIds", event.attempts,
      event.created_at as "createdAt"
  `);
}

/**
 * Gives an event without a company to its companies: the event itself to the first one, copies to the others. They
 * are due at once. Nothing changes when another process was faster.
 *
 * @param copies the other companies and the ids of their copies
 */
export async function giveToCompanies(
  transaction: Transaction,
  id: string,
  firstCompanyId: string,
  copies: readonly { id: string; companyId: string }[],
): Promise<void> {
  const given = await transaction.maybeOne(sql.type(idRow)`
    update webhooks.inbound_events
    set company_id = ${firstCompanyId}, status = 'received', due_at = now()
    where id = ${id} and company_id is null and due_at is not null
    returning id
  `);
  if (given === null || copies.length === 0) return;
  const ids = copies.map((copy) => copy.id);
  const companyIds = copies.map(({ companyId }) => companyId);
  await transaction.query(sql.type(nothing)`
    insert into webhooks.inbound_events (
      id, company_id, provider, account_ids, path, event_type, external_event_id, message_key,
      payload, payload_bytes, trigger_data, signature_verified, status, due_at, request_id, created_at
    )
    select copy.id, copy.company_id, event.provider, event.account_ids, event.path,
      event.event_type, event.external_event_id, event.message_key, event.payload, event.payload_bytes,
      event.trigger_data, event.signature_verified, 'received', now(), event.request_id,
      event.created_at
    from webhooks.inbound_events as event
    cross join unnest(${sql.array(ids, "text")}, ${sql.array(companyIds, "uuid")})
      as copy (id, company_id)
    where event.id = ${id}
  `);
  await transaction.query(sql.type(nothing)`
    update webhooks.inbound_event_keys as taken
    set event_ids = taken.event_ids || ${sql.array(ids, "text")}
    from webhooks.inbound_events as event
    where event.id = ${id} and taken.provider = event.provider
      and taken.key = event.message_key and taken.event_ids[1] = event.id
  `);
}

/** The companies with at least so many waiting events; null stands for events without a company yet. */
export async function listFullCompanies(
  queryable: Queryable,
  eventsMax: number,
): Promise<readonly (string | null)[]> {
  const rows = await queryable.any(sql.prepared("inbound_full", companyRow)`
    select company_id as "companyId" from webhooks.inbound_events
    where due_at is not null
    group by company_id
    having count(*) >= ${eventsMax}
  `);
  return rows.map(({ companyId }) => companyId);
}
