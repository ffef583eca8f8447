-- The execution plane: executable copies of workflows, runs, what their steps did, and the tasks of
-- the embedded task runtime. Free-form documents are `json`, not `jsonb`: they are handed back byte
-- for byte and never queried.

create table runs.cursor_key (
  key bytea not null
);
insert into runs.cursor_key (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- Content of one revision of a workflow; never updated, so it may be cached by id for ever.
create table runs.deployments (
  id uuid not null,
  company_id uuid not null,
  workflow_id uuid not null,
  revision bigint not null,
  version integer not null,
  name text not null,
  trigger json not null,
  steps json not null,
  input_schema json,
  output_schema json,
  settings json,
  tags text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  constraint deployments_pkey primary key (id),
  constraint deployments_revision_key unique (workflow_id, revision)
);
create index deployments_tags on runs.deployments using gin (tags) where tags <> '{}';

-- What is true of a workflow now: the newest revision that was handed over.
create table runs.deployment_heads (
  workflow_id uuid not null,
  company_id uuid not null,
  revision bigint not null,
  status text not null,
  deployment_id uuid,
  updated_at timestamptz(3) not null default now(),
  constraint deployment_heads_pkey primary key (workflow_id),
  constraint deployment_heads_status check (status in ('active', 'paused', 'archived')),
  constraint deployment_heads_content check (status <> 'active' or deployment_id is not null)
);

-- No foreign key to deployments: each insert would lock the same deployment row, and with thousands
-- of runs a second those shared locks are what the inserts would wait for.
create table runs.runs (
  id text collate "C" not null,
  company_id uuid not null,
  workflow_id uuid not null,
  deployment_id uuid not null,
  workflow_version integer not null,
  status text not null default 'pending',
  trigger_type text not null,
  input json not null,
  output json,
  error json,
  connection_id text,
  task_runtime_run_id text,
  restarted_from_run_id text,
  -- Whether a caller waits for the end, so that ending it is announced.
  awaited boolean not null default false,
  -- The request that caused the run, carried on into its events.
  request_id text,
  -- Execution time before `active_since`, in milliseconds: the run timeout leaves waiting out (D28).
  active_ms bigint not null default 0,
  active_since timestamptz(3),
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  constraint runs_pkey primary key (id),
  constraint runs_status check (
    status in ('pending', 'running', 'waiting_approval', 'suspended', 'completed', 'failed', 'cancelled', 'timeout')
  ),
  constraint runs_trigger_type check (trigger_type in ('api', 'webhook', 'schedule', 'manual')),
  constraint runs_ended check (
    (completed_at is not null) = (status in ('completed', 'failed', 'cancelled', 'timeout'))
  )
) with (fillfactor = 85);

-- Ids sort by time of acceptance, so one index a filter serves keyset paging newest first.
create index runs_by_company on runs.runs (company_id, id desc);
create index runs_by_workflow on runs.runs (workflow_id, id desc);
create index runs_by_status on runs.runs (company_id, status, id desc);

-- Written only in the transaction that updates their run, so no foreign key checks each row again.
create table runs.step_results (
  run_id text collate "C" not null,
  path text not null,
  -- Order in which the steps of the run began.
  seq integer not null,
  step_id text not null,
  type text not null,
  status text not null,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3) not null,
  input json,
  output json,
  error json,
  attempt integer not null default 1,
  previous_attempts json,
  reused boolean not null default false,
  constraint step_results_pkey primary key (run_id, path),
  constraint step_results_status check (status in ('success', 'error', 'skipped'))
);

-- Steps that have begun and wait: a delay, a retry's pause, or a container of such a step.
create table runs.open_steps (
  run_id text collate "C" not null,
  path text not null,
  seq integer not null,
  started_at timestamptz(3) not null,
  -- When it goes on by itself; null when something else has to happen first.
  due_at timestamptz(3),
  attempt integer not null default 1,
  -- Grows when a retry may safely carry a new idempotency key.
  attempt_group integer not null default 1,
  previous_attempts json,
  constraint open_steps_pkey primary key (run_id, path)
);

create table runs.idempotency_keys (
  company_id uuid not null,
  workflow_id uuid not null,
  key text collate "C" not null,
  run_id text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  constraint idempotency_keys_pkey primary key (company_id, workflow_id, key)
);
create index idempotency_keys_created on runs.idempotency_keys (created_at);

-- One row a live run. `due_at` is both "ready at" and "lease runs out at": a claim moves it one
-- lease ahead, so a dead worker's task becomes due again by itself.
create table runs.tasks (
  run_id text collate "C" not null,
  due_at timestamptz not null default now(),
  -- Fencing token: grows with each claim; a write with an older one is refused.
  fence bigint not null default 0,
  -- Who holds the lease; null when nobody does.
  worker_id text,
  -- How often a lease ran out since the task last made progress (D30).
  takeovers integer not null default 0,
  -- Set when the task was woken while leased, so that parking it does not lose the wake-up.
  woken boolean not null default false,
  constraint tasks_pkey primary key (run_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
create index tasks_due on runs.tasks (due_at);

create table runs.outbox (
  seq bigint generated always as identity,
  id text not null,
  type text not null,
  company_id uuid not null,
  payload json not null,
  created_at timestamptz not null default now(),
  published_at timestamptz,
  constraint outbox_pkey primary key (seq),
  constraint outbox_id_key unique (id)
);
create index outbox_unpublished on runs.outbox (seq) where published_at is null;
