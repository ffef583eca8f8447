-- The least id with a prefix that a moment can have: ids begin with the moment of their making, in milliseconds
-- and ten digits.
create function webhooks.id_at(prefix text, moment timestamptz) returns text
language sql stable strict
set search_path = pg_catalog, pg_temp
as $$
  select prefix || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((millis >> (5 * (9 - place))) & 31)::integer, 1),
    '' order by place
  )
  from (select floor(extract(epoch from moment) * 1000)::bigint as millis) as since_epoch,
    generate_series(0, 9) as place
$$;

-- What came in. One row for each event and company; the company is null as long as nobody is known to whom
-- it belongs.
create table webhooks.inbound_events (
  id text collate "C" not null,
  company_id uuid,
  -- The provider's id, or `custom`.
  provider text collate "C" not null,
  -- The accounts at the provider that the event is about.
  account_ids text[] not null,
  -- The path of the custom route.
  path text,
  event_type text,
  -- The provider's id of the event.
  external_event_id text,
  -- What repeats of it are known by; null when they are not.
  message_key text,
  -- The input of the runs as JSON text; null when it is not kept any more.
  payload json,
  payload_bytes integer not null,
  -- What templates see as `trigger` (D40a).
  trigger_data json,
  signature_verified text not null,
  status text not null,
  -- Whether its sender could not be verified; then it starts nothing, now or later.
  is_refused boolean not null default false,
  -- `[{workflowId, runId}]`
  started json not null default '[]'::json,
  error text,
  -- Tries to start its runs, the one under way included; those that failed for want of others do not count.
  attempts integer not null default 0,
  -- Until then somebody works on it, or nobody is to; null once its status is final.
  due_at timestamptz(3),
  replayed_from text collate "C",
  request_id text,
  created_at timestamptz(3) not null default now(),
  constraint inbound_events_pkey primary key (id),
  constraint inbound_events_status
    check (status in ('received', 'processing', 'processed', 'failed', 'ignored')),
  constraint inbound_events_signature
    check (signature_verified in ('pending', 'verified', 'failed', 'skipped')),
  constraint inbound_events_due check ((due_at is null) = (status not in ('received', 'processing')))
) partition by range (id);
create index inbound_events_by_company on webhooks.inbound_events (company_id, id desc);
create index inbound_events_failed on webhooks.inbound_events (company_id, id desc)
  where status = 'failed';
create index inbound_events_due on webhooks.inbound_events (company_id, due_at)
  where due_at is not null;

-- Which event has claimed a sender's id of it (D41). Of accepted events only: a forged one must not keep the
-- real one out.
create table webhooks.inbound_event_keys (
  provider text collate "C" not null,
  -- Of the custom route the company; else zeros, since whom an event is for is known later.
  company_id uuid not null,
  key text collate "C" not null,
  -- The events that were made of the message under the key, one for each company.
  event_ids text[] collate "C" not null,
  created_at timestamptz(3) not null default now(),
  constraint inbound_event_keys_pkey primary key (provider, company_id, key)
);
create index inbound_event_keys_by_age on webhooks.inbound_event_keys (created_at);

-- Lists are opened by whoever holds their cursors' key.
create table webhooks.cursor_key (
  only_row boolean not null default true,
  key bytea not null,
  constraint cursor_key_pkey primary key (only_row),
  constraint cursor_key_single check (only_row)
);
insert into webhooks.cursor_key (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- What is kept for a while lies in partitions by weeks.
create table webhooks.partitioned_tables (
  name text not null,
  prefix text not null,
  constraint partitioned_tables_pkey primary key (name)
);
insert into webhooks.partitioned_tables (name, prefix) values ('inbound_events', 'evt_');

-- Makes the partitions, one a week from Monday on (UTC), so that the weeks until `until` have theirs; returns how
-- many it made. The first one of a table holds everything before its end. With the rights of the owner:
-- services make no tables.
create function webhooks.make_partitions(until timestamptz) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  parent record;
  part text;
  week timestamptz;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhooks partitions', 0));
  for parent in select name, prefix from webhooks.partitioned_tables order by name loop
    week := date_trunc('week', now(), 'UTC');
    if not exists (
      select from pg_inherits where inhparent = format('webhooks.%I', parent.name)::regclass
    ) then
      execute format(
        'create table webhooks.%I partition of webhooks.%I for values from (minvalue) to (%L)',
        parent.name || '_first', parent.name,
        webhooks.id_at(parent.prefix, date_trunc('week', now(), 'UTC'))
      );
      made := made + 1;
    end if;
    while week <= until loop
      part := parent.name || to_char(week at time zone 'UTC', '_IYYY_"w"IW');
      if to_regclass(format('webhooks.%I', part)) is null then
        execute format(
          'create table webhooks.%I (like webhooks.%I including all)', part, parent.name
        );
        execute format(
          'alter table webhooks.%I attach partition webhooks.%I for values from (%L) to (%L)',
          parent.name, part, webhooks.id_at(parent.prefix, week),
          webhooks.id_at(parent.prefix, week + interval '7 days')
        );
        made := made + 1;
      end if;
      week := week + interval '7 days';
    end loop;
  end loop;
  return made;
end
$$;
select webhooks.make_partitions(now() + interval '6 weeks');
