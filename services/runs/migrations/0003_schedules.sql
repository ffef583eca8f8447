-- What starts runs of workflows at given times. A workflow whose trigger is a schedule has one from
-- its first activation until it is archived or its trigger becomes another (D23).

create table runs.schedules (
  id text collate "C" not null,
  company_id uuid not null,
  workflow_id uuid not null,
  cron text,
  interval_value integer,
  interval_unit text,
  timezone text not null,
  overlap text not null,
  catch_up text not null,
  -- Input of the runs that it starts; null for an empty object.
  input json,
  enabled boolean not null,
  -- Whether the workflow is deployed as active. Changes together with the deployment's head, which
  -- makes a pause wait for a firing that is under way.
  active boolean not null,
  -- What the trigger of the newest revision said, to tell whether the next one says something else.
  trigger_times text not null,
  trigger_enabled boolean not null,
  -- What intervals are counted from.
  anchor timestamptz(3) not null,
  next_run_at timestamptz(3),
  last_run_at timestamptz(3),
  last_run_id text collate "C",
  run_count bigint not null default 0,
  consecutive_failures integer not null default 0,
  last_error text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint schedules_pkey primary key (id),
  constraint schedules_workflow_key unique (workflow_id),
  constraint schedules_times check ((cron is null) <> (interval_value is null)),
  constraint schedules_interval check (
    (interval_value is null) = (interval_unit is null)
    and interval_unit in ('minutes', 'hours', 'days', 'weeks')
  ),
  constraint schedules_overlap check (overlap in ('allow', 'skip')),
  constraint schedules_catch_up check (catch_up in ('none', 'last')),
  constraint schedules_fires check (next_run_at is null or (enabled and active))
);
create index schedules_due on runs.schedules (next_run_at) where next_run_at is not null;
