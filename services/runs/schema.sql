table runs.approvals
  column id text collate "C" not null
  column company_id uuid not null
  column workflow_id uuid not null
  column run_id text collate "C" not null
  column step_id text not null
  column path text not null
  column attempt text not null
  column status text not null default 'waiting'::text
  column message text not null
  column approvers json
  column form json
  column timeout_at timestamp(3) with time zone
  column created_at timestamp(3) with time zone not null
  column decided_at timestamp(3) with time zone
  column decided_by text
  column comment text
  column data json
  constraint approvals_decided CHECK (((decided_at IS NULL) = (status = 'waiting'::text)))
  constraint approvals_pkey PRIMARY KEY (id)
  constraint approvals_status CHECK ((status = ANY (ARRAY['waiting'::text, 'approved'::text, 'rejected'::text, 'timed_out'::text, 'cancelled'::text])))
  constraint approvals_step_key UNIQUE (run_id, path, attempt)
  CREATE INDEX approvals_by_company ON runs.approvals USING btree (company_id, id DESC)
  CREATE INDEX approvals_by_status ON runs.approvals USING btree (company_id, status, id DESC)

table runs.concurrency_slots
  column run_id text collate "C" not null
  column workflow_id uuid not null
  column run_limit integer not null
  column held boolean not null
  constraint concurrency_slots_pkey PRIMARY KEY (run_id)
  CREATE INDEX concurrency_slots_by_workflow ON runs.concurrency_slots USING btree (workflow_id, held, run_id)

table runs.cursor_key
  column key bytea not null

table runs.deployment_heads
  column workflow_id uuid not null
  column company_id uuid not null
  column revision bigint not null
  column status text not null
  column deployment_id uuid
  column updated_at timestamp(3) with time zone not null default now()
  column trigger_key text collate "C"
  constraint deployment_heads_content CHECK (((status <> 'active'::text) OR (deployment_id IS NOT NULL)))
  constraint deployment_heads_pkey PRIMARY KEY (workflow_id)
  constraint deployment_heads_status CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'archived'::text])))
  CREATE INDEX deployment_heads_by_trigger ON runs.deployment_heads USING btree (company_id, trigger_key) WHERE ((trigger_key IS NOT NULL) AND (status = 'active'::text))

table runs.deployments
  column id uuid not null
  column company_id uuid not null
  column workflow_id uuid not null
  column revision bigint not null
  column version integer not null
  column name text not null
  column trigger json not null
  column steps json not null
  column input_schema json
  column output_schema json
  column settings json
  column tags text[] not null default '{}'::text[]
  column created_at timestamp(3) with time zone not null default now()
  constraint deployments_pkey PRIMARY KEY (id)
  constraint deployments_revision_key UNIQUE (workflow_id, revision)
  CREATE INDEX deployments_tags ON runs.deployments USING gin (tags) WHERE (tags <> '{}'::text[])

table runs.idempotency_keys
  column company_id uuid not null
  column workflow_id uuid not null
  column key text collate "C" not null
  column run_id text collate "C" not null
  column created_at timestamp(3) with time zone not null default now()
  constraint idempotency_keys_pkey PRIMARY KEY (company_id, workflow_id, key)
  CREATE INDEX idempotency_keys_created ON runs.idempotency_keys USING btree (created_at)

table runs.open_steps
  column run_id text collate "C" not null
  column path text not null
  column seq integer not null
  column started_at timestamp(3) with time zone not null
  column due_at timestamp(3) with time zone
  column attempt integer not null default 1
  column attempt_group integer not null default 1
  column previous_attempts json
  column deadline_at timestamp(3) with time zone
  constraint open_steps_pkey PRIMARY KEY (run_id, path)

table runs.outbox
  column seq bigint not null generated always as identity
  column id text not null
  column type text not null
  column company_id uuid not null
  column payload json not null
  column created_at timestamp with time zone not null default now()
  column published_at timestamp with time zone
  column stream text not null default 'runs'::text
  constraint outbox_id_key UNIQUE (id)
  constraint outbox_pkey PRIMARY KEY (seq)
  CREATE INDEX outbox_pending ON runs.outbox USING btree (stream, seq) WHERE (published_at IS NULL)

table runs.runs with (fillfactor=85)
  column id text collate "C" not null
  column company_id uuid not null
  column workflow_id uuid not null
  column deployment_id uuid not null
  column workflow_version integer not null
  column status text not null default 'pending'::text
  column trigger_type text not null
  column input json not null
  column output json
  column error json
  column connection_id text
  column task_runtime_run_id text
  column restarted_from_run_id text
  column awaited boolean not null default false
  column request_id text
  column active_ms bigint not null default 0
  column active_since timestamp(3) with time zone
  column created_at timestamp(3) with time zone not null
  column started_at timestamp(3) with time zone
  column completed_at timestamp(3) with time zone
  column trigger_data json
  column schedule_id text collate "C"
  column parent_run_id text collate "C"
  column parent_step text
  column parent_waits boolean not null default false
  column depth integer not null default 0
  column trigger_depth integer not null default 0
  constraint runs_ended CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'timeout'::text]))))
  constraint runs_parent CHECK (((parent_run_id IS NULL) = (parent_step IS NULL)))
  constraint runs_pkey PRIMARY KEY (id)
  constraint runs_status CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'waiting_approval'::text, 'suspended'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'timeout'::text])))
  constraint runs_trigger_type CHECK ((trigger_type = ANY (ARRAY['api'::text, 'webhook'::text, 'schedule'::text, 'manual'::text, 'table'::text])))
  CREATE INDEX runs_by_state ON runs.runs USING btree (company_id, trigger_type, status, id DESC)
  CREATE INDEX runs_by_workflow_state ON runs.runs USING btree (workflow_id, trigger_type, status, id DESC)
  CREATE INDEX runs_live_by_schedule ON runs.runs USING btree (schedule_id) WHERE ((schedule_id IS NOT NULL) AND (completed_at IS NULL))
  CREATE INDEX runs_live_children ON runs.runs USING btree (parent_run_id) WHERE (parent_waits AND (completed_at IS NULL))
  CREATE UNIQUE INDEX runs_parent_step_key ON runs.runs USING btree (parent_run_id, parent_step) WHERE (parent_run_id IS NOT NULL)

table runs.schedules
  column id text collate "C" not null
  column company_id uuid not null
  column workflow_id uuid not null
  column cron text
  column interval_value integer
  column interval_unit text
  column timezone text not null
  column overlap text not null
  column catch_up text not null
  column input json
  column enabled boolean not null
  column active boolean not null
  column trigger_times text not null
  column trigger_enabled boolean not null
  column anchor timestamp(3) with time zone not null
  column next_run_at timestamp(3) with time zone
  column last_run_at timestamp(3) with time zone
  column last_run_id text collate "C"
  column run_count bigint not null default 0
  column consecutive_failures integer not null default 0
  column last_error text
  column created_at timestamp(3) with time zone not null
  column updated_at timestamp(3) with time zone not null
  constraint schedules_catch_up CHECK ((catch_up = ANY (ARRAY['none'::text, 'last'::text])))
  constraint schedules_fires CHECK (((next_run_at IS NULL) OR (enabled AND active)))
  constraint schedules_interval CHECK ((((interval_value IS NULL) = (interval_unit IS NULL)) AND (interval_unit = ANY (ARRAY['minutes'::text, 'hours'::text, 'days'::text, 'weeks'::text]))))
  constraint schedules_overlap CHECK ((overlap = ANY (ARRAY['allow'::text, 'skip'::text])))
  constraint schedules_pkey PRIMARY KEY (id)
  constraint schedules_times CHECK (((cron IS NULL) <> (interval_value IS NULL)))
  constraint schedules_workflow_key UNIQUE (workflow_id)
  CREATE INDEX schedules_due ON runs.schedules USING btree (next_run_at) WHERE (next_run_at IS NOT NULL)

table runs.step_results
  column run_id text collate "C" not null
  column path text not null
  column seq integer not null
  column step_id text not null
  column type text not null
  column status text not null
  column started_at timestamp(3) with time zone not null
  column completed_at timestamp(3) with time zone not null
  column input json
  column output json
  column error json
  column attempt integer not null default 1
  column previous_attempts json
  column reused boolean not null default false
  constraint step_results_pkey PRIMARY KEY (run_id, path)
  constraint step_results_status CHECK ((status = ANY (ARRAY['success'::text, 'error'::text, 'skipped'::text])))

table runs.tasks with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500)
  column run_id text collate "C" not null
  column due_at timestamp with time zone not null default now()
  column fence bigint not null default 0
  column worker_id text
  column takeovers integer not null default 0
  column woken boolean not null default false
  constraint tasks_pkey PRIMARY KEY (run_id)
  CREATE INDEX tasks_due ON runs.tasks USING btree (due_at)

table runs.triggering_events
  column company_id uuid not null
  column event_id text collate "C" not null
  column started json not null
  column created_at timestamp(3) with time zone not null default now()
  constraint triggering_events_pkey PRIMARY KEY (company_id, event_id)
  CREATE INDEX triggering_events_created ON runs.triggering_events USING btree (created_at)

table runs.wake_ups
  column id bigint not null generated always as identity
  column run_id text collate "C" not null
  constraint wake_ups_pkey PRIMARY KEY (id)
