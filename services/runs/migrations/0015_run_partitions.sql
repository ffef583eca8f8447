-- The tables of runs and step results become the first partitions of new ones: a change of catalogues
-- that takes milliseconds once it has the locks.

do $$
begin
  -- Whoever waits for such a lock holds up every query behind it, so each wait is short.
  set local lock_timeout to '200ms';
  for attempt in 1..150 loop
    begin
      lock table runs.tasks, runs.runs, runs.step_results, runs.outbox in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 150 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
end
$$;

drop trigger runs_note_child on runs.runs;
drop function runs.note_child_run();
-- `runs.child_runs` says it instead.
drop index runs.runs_parent_step_key;

-- Columns, constraints and indexes are those of the table as it is, under their names.
create procedure runs.make_first_partition(parent text, key text) language plpgsql as $$
declare
  part text := parent || '_first';
  bound text;
  indexes text[];
  constraints text[];
  named record;
begin
  select substring(pg_get_constraintdef(oid) from $re$'(run_[0-9a-z]{10})'$re$) into strict bound
  from pg_constraint
  where conrelid = format('runs.%I', parent)::regclass and conname = parent || '_first_bound';
  select array_agg(pg_get_indexdef(indexrelid)) into indexes
  from pg_index as i
  where indrelid = format('runs.%I', parent)::regclass
    and not exists (select from pg_constraint where conindid = i.indexrelid);
  select array_agg(format('constraint %I %s', conname, pg_get_constraintdef(oid))) into constraints
  from pg_constraint
  where conrelid = format('runs.%I', parent)::regclass and contype in ('p', 'u');

  for named in
    select relname as name
    from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = format('runs.%I', parent)::regclass
  loop
    execute format(
      'alter index runs.%I rename to %I',
      named.name, part || substr(named.name, length(parent) + 1)
    );
  end loop;
  execute format('alter table runs.%I rename to %I', parent, part);
  execute format(
    'create table runs.%I (like runs.%I including all excluding indexes) partition by range (%I)',
    parent, part, key
  );
  execute format('alter table runs.%I drop constraint %I', parent, parent || '_first_bound');
  for i in 1 .. cardinality(constraints) loop
    execute format('alter table runs.%I add %s', parent, constraints[i]);
  end loop;
  for i in 1 .. coalesce(cardinality(indexes), 0) loop
    execute indexes[i];
  end loop;
  execute format(
    'alter table runs.%I attach partition runs.%I for values from (minvalue) to (%L)',
    parent, part, bound
  );
  execute format('alter table runs.%I drop constraint %I', part, parent || '_first_bound');
end
$$;
call runs.make_first_partition('runs', 'id');
call runs.make_first_partition('step_results', 'run_id');
drop procedure runs.make_first_partition(text, text);

-- The partitions of a table and their bounds; null where the first one has none.
create function runs.list_partitions(parent text)
returns table (name text, from_id text, to_id text)
language sql stable strict
set search_path = pg_catalog, pg_temp
as $$
  select relname::text,
    substring(bound from $re$FROM \('(run_[^']*)'\)$re$),
    substring(bound from $re$TO \('(run_[^']*)'\)$re$) as end_id
  from (
    select relname, pg_get_expr(relpartbound, pg_class.oid) as bound
    from pg_inherits
    join pg_class on pg_class.oid = inhrelid
    where inhparent = (
      select oid from pg_class
      where relname = parent and relnamespace = 'runs'::regnamespace and relkind = 'p'
    )
  ) as partition
  order by substring(bound from $re$TO \('(run_[^']*)'\)$re$) collate "C"
$$;

-- Makes partitions, one a month, so that the months until `until` have theirs; returns how many it made.
-- With the rights of the owner: services make no tables. Attaching lets reads and writes go on.
create function runs.make_partitions(until timestamptz) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  parent text;
  part text;
  from_id text;
  to_id text;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('runs partitions', 0));
  foreach parent in array array['runs', 'child_runs', 'step_results'] loop
    loop
      select max(p.to_id collate "C") into strict from_id from runs.list_partitions(parent) as p;
      exit when from_id > runs.run_id_at(until) collate "C";
      to_id := runs.run_id_at(
        (runs.run_accepted_at(from_id) at time zone 'UTC' + interval '1 month') at time zone 'UTC'
      );
      part := parent || to_char(runs.run_accepted_at(from_id) at time zone 'UTC', '_YYYY_MM');
      execute format(
        'create table runs.%I (like runs.%I including all)%s',
        part, parent, case when parent = 'runs' then ' with (fillfactor = 85)' else '' end
      );
      execute format(
        'alter table runs.%I attach partition runs.%I for values from (%L) to (%L)',
        parent, part, from_id, to_id
      );
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$$;
select runs.make_partitions(now() + interval '3 months');

-- Takes the partitions that end with an id away from their tables, which needs them for a moment for
-- itself. While it waits everybody waits behind it, so it gives up after `wait_ms` (55P03). False when a
-- run in them may still be alive.
create function runs.detach_partitions(end_id text, wait_ms integer) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  parent text;
  part record;
  give_up timestamptz := clock_timestamp() + wait_ms * interval '1 millisecond';
begin
  if end_id > runs.run_id_at(now() - interval '1 day') collate "C" then return false; end if;
  foreach parent in array array['runs', 'child_runs', 'step_results'] loop
    perform set_config('lock_timeout', greatest(
      1, ceil(extract(epoch from give_up - clock_timestamp()) * 1000)
    )::integer || 'ms', true);
    execute format('lock table runs.%I in access exclusive mode', parent);
    select * into part from runs.list_partitions(parent) as p where p.to_id = end_id;
    continue when not found;
    if exists (
      select from runs.tasks
      where run_id >= coalesce(part.from_id, '') collate "C" and run_id < end_id collate "C"
    ) then return false; end if;
    execute format('alter table runs.%I detach partition runs.%I', parent, part.name);
  end loop;
  return true;
end
$$;

-- Drops what was detached; returns how many tables. Nobody looks at them, so nobody waits.
create function runs.drop_detached_partitions() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
declare
  part text;
  dropped integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('runs partitions', 0));
  for part in
    select relname from pg_class
    where relnamespace = 'runs'::regnamespace and relkind = 'r' and not relispartition
      and relname ~ '^(runs|child_runs|step_results)_(first|\d{4}_\d{2})$'
  loop
    execute format('drop table runs.%I', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

-- How long the ended runs of a company are kept, where it is not what the installation says.
create table runs.retention_policies (
  company_id uuid not null,
  -- 0: for ever.
  days integer not null,
  constraint retention_policies_pkey primary key (company_id),
  constraint retention_policies_days check (days >= 0)
);

-- Runs that are gone and whose step results still have to go.
create table runs.removed_runs (
  run_id text collate "C" not null,
  constraint removed_runs_pkey primary key (run_id)
);

-- Events are deleted when they are published, found by stream and order alone: an event has one index
-- entry instead of three.
alter table runs.outbox drop constraint outbox_pkey, drop constraint outbox_id_key;

-- Rows here live for moments. By default they would be cleaned up when a fifth of the table is dead,
-- and slowly: until then each claim and each pass of the relay walks over them.
do $$
declare
  queue text;
begin
  foreach queue in array array['tasks', 'outbox', 'open_steps', 'wake_ups', 'concurrency_slots', 'removed_runs']
  loop
    execute format(
      'alter table runs.%I set (
         autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
         autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000,
         autovacuum_vacuum_cost_delay = 0
       )', queue
    );
  end loop;
end
$$;
