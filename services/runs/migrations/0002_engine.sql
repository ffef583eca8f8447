-- Approvals, child runs, concurrency slots and what else the whole engine needs of a run.

alter table runs.runs
  -- What triggered the run beyond its input: a schedule's firing, a webhook's headers and query.
  add column trigger_data json,
  add column schedule_id text collate "C",
  -- The run whose workflow step started this one.
  add column parent_run_id text collate "C",
  -- Which attempt of which step that was; one child for each.
  add column parent_step text,
  -- Whether the parent waits for the end, so that it is woken then, and takes this run down with it.
  add column parent_waits boolean not null default false,
  -- How many runs are above this one (D17).
  add column depth integer not null default 0,
  add constraint runs_parent check ((parent_run_id is null) = (parent_step is null));

-- An attempt of a step starts one child. Partial, so that runs without a parent do not pay for it.
create unique index runs_parent_step_key on runs.runs (parent_run_id, parent_step)
  where parent_run_id is not null;
-- Scheduled runs by schedule, to skip a firing while an earlier run goes on (D14).
create index runs_live_by_schedule on runs.runs (schedule_id)
  where schedule_id is not null and completed_at is null;
-- Children that still run though their parent may have ended.
create index runs_live_children on runs.runs (parent_run_id)
  where parent_waits and completed_at is null;
create index runs_by_trigger on runs.runs (company_id, trigger_type, id desc);

alter table runs.open_steps
  -- When the current attempt is given up; null when nothing limits it.
  add column deadline_at timestamptz(3);

-- Runs that have a reason to go on, written by the transaction that makes the reason. Waking there
-- would lock tasks of other runs, in no order, among those that the transaction settles.
create table runs.wake_ups (
  id bigint generated always as identity,
  run_id text collate "C" not null,
  constraint wake_ups_pkey primary key (id)
);

create table runs.approvals (
  id text collate "C" not null,
  company_id uuid not null,
  workflow_id uuid not null,
  run_id text collate "C" not null,
  step_id text not null,
  path text not null,
  -- Which attempt of the step asks; each asks anew.
  attempt text not null,
  status text not null default 'waiting',
  message text not null,
  approvers json,
  form json,
  timeout_at timestamptz(3),
  created_at timestamptz(3) not null,
  decided_at timestamptz(3),
  decided_by text,
  comment text,
  data json,
  constraint approvals_pkey primary key (id),
  constraint approvals_step_key unique (run_id, path, attempt),
  constraint approvals_status check (
    status in ('waiting', 'approved', 'rejected', 'timed_out', 'cancelled')
  ),
  constraint approvals_decided check ((decided_at is null) = (status = 'waiting'))
);
create index approvals_by_company on runs.approvals (company_id, id desc);
create index approvals_by_status on runs.approvals (company_id, status, id desc);

-- Runs of workflows with a concurrency limit, from their first execution to their end (D15).
create table runs.concurrency_slots (
  run_id text collate "C" not null,
  workflow_id uuid not null,
  run_limit integer not null,
  -- Whether the run has a slot, or queues for one in the order of the ids.
  held boolean not null,
  constraint concurrency_slots_pkey primary key (run_id)
);
create index concurrency_slots_by_workflow on runs.concurrency_slots (workflow_id, held, run_id);
