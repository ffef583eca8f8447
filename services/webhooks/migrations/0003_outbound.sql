-- The keys that encrypt what endpoints hold (ADR 10).
create table webhooks.keks (
  id text collate "C" not null,
  constraint keks_pkey primary key (id)
);
create table webhooks.company_keys (
  id uuid not null,
  company_id uuid not null,
  kek_id text collate "C" not null,
  wrapped_key bytea not null,
  created_at timestamptz(3) not null default now(),
  constraint company_keys_pkey primary key (id),
  constraint company_keys_company_key unique (company_id),
  constraint company_keys_kek_fkey foreign key (kek_id) references webhooks.keks (id)
);
create index company_keys_by_kek on webhooks.company_keys (kek_id, id);

create table webhooks.endpoints (
  id text collate "C" not null,
  company_id uuid not null,
  name text not null,
  url text not null,
  -- Null: all.
  events text[],
  workflow_ids text[],
  description text,
  rate_limit_per_second integer,
  company_key_id uuid not null,
  -- JSON `{secret, headers}`, encrypted.
  sealed bytea not null,
  -- The secret before the last rotation, encrypted; it signs too until then.
  sealed_old_secret bytea,
  old_secret_expires_at timestamptz(3),
  status text not null default 'active',
  disabled_reason text,
  disabled_at timestamptz(3),
  -- Failed attempts since the last success (D47).
  consecutive_failures integer not null default 0,
  -- What happened before is not for it: since it was made, or since a caller who had disabled it made it active.
  hears_since timestamptz(3) not null default now(),
  -- Since when it selects what it does now; what happened before has to be selected by the former choice, too.
  selects_since timestamptz(3) not null default now(),
  former_events text[],
  former_workflow_ids text[],
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint endpoints_pkey primary key (id),
  constraint endpoints_company_key_fkey
    foreign key (company_key_id) references webhooks.company_keys (id),
  constraint endpoints_status check (status in ('active', 'disabled')),
  constraint endpoints_disabled check (
    (status = 'disabled') = (disabled_at is not null)
    and (status = 'disabled') = (disabled_reason is not null)
  ),
  constraint endpoints_reason
    check (disabled_reason in ('consecutive_failures', 'gone', 'caller')),
  constraint endpoints_old_secret
    check ((sealed_old_secret is null) = (old_secret_expires_at is null))
) with (fillfactor = 80);
create index endpoints_by_company on webhooks.endpoints (company_id, id desc);

-- Events of companies that have endpoints. The body is made once, when the deliveries are.
create table webhooks.outbound_events (
  id text collate "C" not null,
  company_id uuid not null,
  type text not null,
  workflow_id text,
  run_id text collate "C",
  -- When it happened.
  occurred_at timestamptz(3) not null,
  -- The endpoint that it is about, which does not get it; null when it is about none.
  endpoint_id text collate "C",
  -- As it came over the bus.
  envelope json not null,
  -- What is sent, byte by byte; null until then.
  body text,
  -- When its deliveries were made; null until then.
  fanned_out_at timestamptz(3),
  -- Failed tries of making its deliveries, and why the last one failed.
  attempts integer not null default 0,
  error text,
  -- When it was given up; null as long as it is not.
  failed_at timestamptz(3),
  -- When they are to be made; null once they are, or will not be.
  due_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint outbound_events_pkey primary key (id),
  constraint outbound_events_due
    check ((due_at is null) = (fanned_out_at is not null or failed_at is not null))
) partition by range (id);
create index outbound_events_due on webhooks.outbound_events (company_id, due_at, id)
  where due_at is not null;
create index outbound_events_failed on webhooks.outbound_events (id) where failed_at is not null;

-- One event on its way to one endpoint. The id is made of the event's and the endpoint's, so an event that comes
-- again makes no second one.
create table webhooks.deliveries (
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  company_id uuid not null,
  event_id text collate "C" not null,
  event_type text not null,
  workflow_id text,
  run_id text collate "C",
  -- Whether it is a test, which is attempted once, by the call that asks for it.
  is_test boolean not null default false,
  status text not null default 'pending',
  attempt_count integer not null default 0,
  max_attempts integer not null default 8,
  -- Null when none is due any more.
  next_attempt_at timestamptz(3),
  -- Bytes of the event's body, to make room for it before it is read.
  body_bytes integer not null,
  last_status_code integer,
  last_error text,
  duration_ms integer,
  -- `[{number, at, url, statusCode, durationMs, error, responseBody}]`, oldest first.
  attempts json not null default '[]'::json,
  created_at timestamptz(3) not null default now(),
  delivered_at timestamptz(3),
  constraint deliveries_pkey primary key (id),
  constraint deliveries_status check (status in ('pending', 'succeeded', 'failed')),
  constraint deliveries_due check ((next_attempt_at is null) = (status <> 'pending')),
  constraint deliveries_delivered check ((delivered_at is null) = (status <> 'succeeded'))
) partition by range (id);
create index deliveries_by_endpoint on webhooks.deliveries (endpoint_id, id desc);
create index deliveries_failed on webhooks.deliveries (endpoint_id, id desc) where status = 'failed';
create index deliveries_due on webhooks.deliveries (endpoint_id, next_attempt_at, id)
  where status = 'pending';

-- The attempts of a delivery with one more; the oldest go when there are 50.
create function webhooks.with_attempt(attempts json, attempt text) returns json
language sql immutable strict
set search_path = pg_catalog, pg_temp
as $$
  select case
    when json_array_length(attempts) = 0 then '[' || attempt || ']'
    when json_array_length(attempts) < 50 then rtrim(attempts::text, ']') || ',' || attempt || ']'
    else (
      select '[' || string_agg(kept.value::text, ',' order by kept.position) || ',' || attempt || ']'
      from json_array_elements(attempts) with ordinality as kept (value, position)
      where kept.position > json_array_length(attempts) - 49
    )
  end::json
$$;

-- The line of deliveries to one endpoint: one process at a time works on it.
create table webhooks.lanes (
  endpoint_id text collate "C" not null,
  company_id uuid not null,
  -- When somebody is to look after it: as its next delivery is due, or its lease ends; null when nothing
  -- is due, or while its endpoint is disabled.
  due_at timestamptz(3),
  -- Who works on it, and until when nobody else may; null when nobody does.
  owner uuid,
  leased_until timestamptz(3),
  -- Counts the owners, so that one who was too slow cannot write any more.
  epoch bigint not null default 0,
  constraint lanes_pkey primary key (endpoint_id),
  constraint lanes_endpoint_fkey foreign key (endpoint_id)
    references webhooks.endpoints (id) on delete cascade,
  constraint lanes_lease check ((owner is null) = (leased_until is null))
) with (fillfactor = 50);
create index lanes_due on webhooks.lanes (company_id, due_at) where due_at is not null;

-- Endpoints that were deleted, or disabled by a caller: their deliveries are to go, page by page.
create table webhooks.left_deliveries (
  endpoint_id text collate "C" not null,
  company_id uuid not null,
  -- Those that were made before; null: all, as long as the endpoint is disabled.
  made_before timestamptz(3),
  noted_at timestamptz(3) not null default now(),
  constraint left_deliveries_pkey primary key (endpoint_id)
);

-- Until when the ends of runs were compared with the events of them that are here.
create table webhooks.comparisons (
  only_row boolean not null default true,
  compared_until timestamptz(3) not null default now(),
  -- When somebody began to compare last.
  begun_at timestamptz(3) not null default '-infinity',
  constraint comparisons_pkey primary key (only_row),
  constraint comparisons_single check (only_row)
);
insert into webhooks.comparisons default values;

-- What other services hear of, written with the change that it tells of (D51).
create table webhooks.outbox (
  seq bigint generated always as identity,
  stream text not null default 'webhooks',
  id text not null,
  type text not null,
  company_id uuid not null,
  payload json not null,
  created_at timestamptz not null default now(),
  published_at timestamptz
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000,
  autovacuum_vacuum_cost_delay = 0
);
create index outbox_pending on webhooks.outbox (stream, seq) where published_at is null;

insert into webhooks.partitioned_tables (name, prefix)
values ('outbound_events', 'evt_'), ('deliveries', 'whd_');
select webhooks.make_partitions(now() + interval '6 weeks');

-- The partitions of the weeks, the oldest first.
create function webhooks.list_partitions()
returns table (parent text, name text, upper_id text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select known.name, part.relname,
    substring(pg_get_expr(part.relpartbound, part.oid) from 'TO \(''([^'']+)''\)')
  from webhooks.partitioned_tables as known
  join pg_inherits as link on link.inhparent = format('webhooks.%I', known.name)::regclass
  join pg_class as part on part.oid = link.inhrelid
  order by 3, 1
$$;

-- Takes a partition away that ends at a moment or before: from then on what lay in it does not exist. It waits
-- for the tables no longer than it is told, for everybody else waits behind it. With the rights of the owner.
create function webhooks.detach_partition(part text, moment timestamptz, wait_ms integer)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  ended record;
begin
  select parts.parent, parts.name into ended
  from webhooks.list_partitions() as parts
  join webhooks.partitioned_tables as known on known.name = parts.parent
  where parts.name = part
    and parts.upper_id collate "C" <= webhooks.id_at(known.prefix, moment) collate "C"
    and moment < now() - interval '1 day';
  if not found then return false; end if;
  perform set_config('lock_timeout', greatest(1, wait_ms) || 'ms', true);
  execute format('alter table webhooks.%I detach partition webhooks.%I', ended.parent, ended.name);
  return true;
end
$$;

-- Drops what was detached; returns how many tables. Nobody looks at them, so nobody waits.
create function webhooks.drop_detached_partitions() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
declare
  part text;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhooks partitions', 0));
  for part in
    select relname from pg_class
    where relnamespace = 'webhooks'::regnamespace and relkind = 'r' and not relispartition
      and relname ~ '^(inbound_events|outbound_events|deliveries)_(first|\d{4}_w\d{2})$'
  loop
    execute format('drop table webhooks.%I', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;
