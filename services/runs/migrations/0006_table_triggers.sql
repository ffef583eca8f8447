-- Runs that events start: which workflows wait for what, and which events have started their runs.

alter table runs.deployment_heads
  -- What events the newest content waits for, such as `table:<id>`; null where a trigger is no event.
  add column trigger_key text collate "C";
create index deployment_heads_by_trigger on runs.deployment_heads (company_id, trigger_key)
  where trigger_key is not null and status = 'active';

alter table runs.runs
  -- How many runs led to this one by what they wrote, each starting the next.
  add column trigger_depth integer not null default 0,
  drop constraint runs_trigger_type,
  -- Validated by the next migration, under a lock that lets runs go on.
  add constraint runs_trigger_type check (
    trigger_type in ('api', 'webhook', 'schedule', 'manual', 'table')
  ) not valid;

-- Events that have started runs, so that none does so again when it comes once more.
create table runs.triggering_events (
  company_id uuid not null,
  event_id text collate "C" not null,
  -- [{"workflowId", "runId"}]: what it started.
  started json not null,
  created_at timestamptz(3) not null default now(),
  constraint triggering_events_pkey primary key (company_id, event_id)
);
create index triggering_events_created on runs.triggering_events (created_at);
