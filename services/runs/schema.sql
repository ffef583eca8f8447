table runs.cursor_key
  column key bytea not null

table runs.deployment_heads
  column workflow_id uuid not null
  column company_id uuid not null
  column revision bigint not null
  column status text not null
  column deployment_id uuid
  column updated_at timestamp(3) with time zone not null default now()
  constraint deployment_heads_content CHECK (((status <> 'active'::text) OR (deployment_id IS NOT NULL)))
  constraint deployment_heads_pkey PRIMARY KEY (workflow_id)
  constraint deployment_heads_status CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'archived'::text])))

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
  constraint open_steps_pkey PRIMARY KEY (run_id, path)

table runs.outbox
  column seq bigint not null generated always as identity
  column id text not null
  column type text not null
  column company_id uuid not null
  column payload json not null
  column created_at timestamp with time zone not null default now()
  column published_at timestamp with time zone
  constraint outbox_id_key UNIQUE (id)
  constraint outbox_pkey PRIMARY KEY (seq)
  CREATE INDEX outbox_unpublished ON runs.outbox USING btree (seq) WHERE (published_at IS NULL)

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
  constraint runs_ended CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'timeout'::text]))))
  constraint runs_pkey PRIMARY KEY (id)
  constraint runs_status CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'waiting_approval'::text, 'suspended'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'timeout'::text])))
  constraint runs_trigger_type CHECK ((trigger_type = ANY (ARRAY['api'::text, 'webhook'::text, 'schedule'::text, 'manual'::text])))
  CREATE INDEX runs_by_company ON runs.runs USING btree (company_id, id DESC)
  CREATE INDEX runs_by_status ON runs.runs USING btree (company_id, status, id DESC)
  CREATE INDEX runs_by_workflow ON runs.runs USING btree (workflow_id, id DESC)

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
