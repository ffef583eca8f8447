-- Runs and what belongs to them are to lie in partitions by time (D58, ADR 31). Their ids begin with the
-- moment of acceptance, so a range of ids is a range of time. This file and the next two turn the tables
-- that there are into the first partitions, without rewriting them and without a long lock.

-- The least id that a run accepted at a moment can have: 48 bits of milliseconds are ten digits.
create function runs.run_id_at(moment timestamptz) returns text
language sql stable strict
set search_path = pg_catalog, pg_temp
as $$
  select 'run_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((millis >> (5 * (9 - place))) & 31)::integer, 1),
    '' order by place
  )
  from (select floor(extract(epoch from moment) * 1000)::bigint as millis) as since_epoch,
    generate_series(0, 9) as place
$$;

-- The moment at which a run with an id was accepted.
create function runs.run_accepted_at(id text) returns timestamptz
language sql stable strict
set search_path = pg_catalog, pg_temp
as $$
  select to_timestamp(sum(
    (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 5 + place, 1)) - 1)::bigint
      << (5 * (9 - place))
  ) / 1000.0)
  from generate_series(0, 9) as place
$$;

-- Which child an attempt of a step has started. A table of its own, as it is unique across partitions.
create table runs.child_runs (
  parent_run_id text collate "C" not null,
  parent_step text not null,
  run_id text collate "C" not null,
  constraint child_runs_pkey primary key (parent_run_id, parent_step)
) partition by range (parent_run_id);

-- The code before this migration starts children without it.
create function runs.note_child_run() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into runs.child_runs (parent_run_id, parent_step, run_id)
  values (new.parent_run_id, new.parent_step, new.id)
  on conflict do nothing;
  return null;
end
$$;
create trigger runs_note_child after insert on runs.runs
for each row when (new.parent_run_id is not null) execute function runs.note_child_run();

-- The first partition ends with the next month, long after the tables have become partitions.
do $$
declare
  first_end text := runs.run_id_at(
    (date_trunc('month', now() at time zone 'UTC') + interval '2 months') at time zone 'UTC'
  );
begin
  execute format(
    'create table runs.child_runs_first partition of runs.child_runs
     for values from (minvalue) to (%L)', first_end
  );
  -- Validated by the next migration, under a lock that lets runs go on.
  execute format(
    'alter table runs.runs add constraint runs_first_bound check (id < %L) not valid', first_end
  );
  execute format(
    'alter table runs.step_results
     add constraint step_results_first_bound check (run_id < %L) not valid', first_end
  );
end
$$;
