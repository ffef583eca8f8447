-- Fairness: runs that descend from one run are counted, events wait in an inbox where companies take
-- turns, and schedulers tell their own backlog from a time in which nobody looked.

alter table runs.runs
  -- The first of the runs that led to it, as a child or by what they wrote; null: it is the first itself.
  add column root_run_id text collate "C",
  -- Why it fails as soon as it is executed: nobody was there to be told when it was started.
  add column start_fault text;

-- How many runs descend from a run (D60); no row where none does.
create table runs.run_families (
  root_run_id text collate "C" not null,
  company_id uuid not null,
  descendants integer not null,
  constraint run_families_pkey primary key (root_run_id)
);

-- Events that workflows wait for, from their arrival until their runs are stored.
create table runs.event_inbox (
  seq bigint generated always as identity,
  company_id uuid not null,
  event_id text collate "C" not null,
  -- The whole envelope.
  event json not null,
  -- How often its runs could not be started.
  attempts integer not null default 0,
  -- When it may be taken; whoever takes it puts this off for the time that it needs.
  due_at timestamptz not null default now(),
  constraint event_inbox_pkey primary key (company_id, event_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
-- Each company's oldest events, found without looking at those of the others.
create index event_inbox_due on runs.event_inbox (company_id, due_at, seq);

-- When schedulers have looked for due schedules.
create table runs.scheduler_presence (
  singleton boolean not null default true,
  looked_at timestamptz(3) not null,
  -- The last time in which none has looked for so long that firings were missed.
  away_from timestamptz(3),
  away_until timestamptz(3),
  constraint scheduler_presence_pkey primary key (singleton),
  constraint scheduler_presence_one_row check (singleton)
);
