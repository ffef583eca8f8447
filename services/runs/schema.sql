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

table runs.child_runs partition by RANGE (parent_run_id)
  column parent_run_id text collate "C" not null
  column parent_step text not null
  column run_id text collate "C" not null
  constraint child_runs_pkey PRIMARY KEY (parent_run_id, parent_step)

table runs.concurrency_slots with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0)
  column run_id text collate "C" not null
  column workflow_id uuid not null
  column run_limit integer not null
  column held boolean not null
  constraint concurrency_slots_pkey PRIMARY KEY (run_id)
  CREATE INDEX concurrency_slots_by_workflow ON runs.concurrency_slots USING btree (workflow_id, held, run_id)

table runs.cursor_key
  column key bytea not null

table runs.dead_letters
  column id uuid not null
  column stream text collate "C" not null
  column consumer text collate "C" not null
  column event_id text collate "C" not null
  column type text collate "C" not null
  column company_id uuid
  column attempts integer not null
  column error text not null
  column first_failed_at timestamp(3) with time zone not null default now()
  column last_failed_at timestamp(3) with time zone not null default now()
  column dead_at timestamp(3) with time zone
  column body bytea
  column gzipped boolean not null default false
  column body_bytes integer
  column redrive_at timestamp(3) with time zone
  constraint dead_letters_event UNIQUE (consumer, stream, event_id)
  constraint dead_letters_pkey PRIMARY KEY (id)
  CREATE INDEX dead_letters_age_idx ON runs.dead_letters USING btree (last_failed_at)
  CREATE INDEX dead_letters_redrive_idx ON runs.dead_letters USING btree (redrive_at) WHERE (redrive_at IS NOT NULL)

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

table runs.event_inbox with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500)
  column seq bigint not null generated always as identity
  column company_id uuid not null
  column event_id text collate "C" not null
  column event json not null
  column attempts integer not null default 0
  column due_at timestamp with time zone not null default now()
  constraint event_inbox_pkey PRIMARY KEY (company_id, event_id)
  CREATE INDEX event_inbox_due ON runs.event_inbox USING btree (company_id, due_at, seq)

table runs.given_up_runs
  column id bigint not null generated always as identity
  column run_id text collate "C" not null
  constraint given_up_runs_pkey PRIMARY KEY (id)

table runs.idempotency_keys
  column company_id uuid not null
  column workflow_id uuid not null
  column key text collate "C" not null
  column run_id text collate "C" not null
  column created_at timestamp(3) with time zone not null default now()
  constraint idempotency_keys_pkey PRIMARY KEY (company_id, workflow_id, key)
  CREATE INDEX idempotency_keys_created ON runs.idempotency_keys USING btree (created_at)

table runs.open_steps with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0)
  column run_id text collate "C" not null
  column path text not null
  column seq integer not null
  column started_at timestamp(3) with time zone not null
  column due_at timestamp(3) with time zone
  column attempt integer not null default 1
  column attempt_group integer not null default 1
  column previous_attempts json
  column deadline_at timestamp(3) with time zone
  column has_turn boolean not null default false
  constraint open_steps_pkey PRIMARY KEY (run_id, path)

table runs.outbox with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0)
  column seq bigint not null generated always as identity
  column id text not null
  column type text not null
  column company_id uuid not null
  column payload json not null
  column created_at timestamp with time zone not null default now()
  column published_at timestamp with time zone
  column stream text not null default 'runs'::text
  CREATE INDEX outbox_pending ON runs.outbox USING btree (stream, seq) WHERE (published_at IS NULL)

table runs.removed_runs with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0)
  column run_id text collate "C" not null
  constraint removed_runs_pkey PRIMARY KEY (run_id)

table runs.retention_policies
  column company_id uuid not null
  column days integer not null
  constraint retention_policies_days CHECK ((days >= 0))
  constraint retention_policies_pkey PRIMARY KEY (company_id)

table runs.revoked_tokens
  column jti text collate "C" not null
  column expires_at timestamp(3) with time zone not null
  column revoked_at timestamp(3) with time zone not null default now()
  constraint revoked_tokens_pkey PRIMARY KEY (jti)
  CREATE INDEX revoked_tokens_expiry_idx ON runs.revoked_tokens USING btree (expires_at)

table runs.run_families
  column root_run_id text collate "C" not null
  column company_id uuid not null
  column descendants integer not null
  constraint run_families_pkey PRIMARY KEY (root_run_id)

table runs.runs partition by RANGE (id)
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
  column epoch bigint not null default 0
  column root_run_id text collate "C"
  column start_fault text
  column journal_entry bigint not null default 0
  column traceparent text collate "C"
  constraint runs_ended CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text, 'timeout'::text]))))
  constraint runs_parent CHECK (((parent_run_id IS NULL) = (parent_step IS NULL)))
  constraint runs_pkey PRIMARY KEY (id)
  constraint runs_status CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'waiting_approval'::text, 'suspended'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'timeout'::text])))
  constraint runs_trigger_type CHECK ((trigger_type = ANY (ARRAY['api'::text, 'webhook'::text, 'schedule'::text, 'manual'::text, 'table'::text])))
  CREATE INDEX runs_by_end ON ONLY runs.runs USING brin (completed_at) WITH (autosummarize='on', pages_per_range='32') WHERE (completed_at IS NOT NULL)
  CREATE INDEX runs_by_state ON ONLY runs.runs USING btree (company_id, trigger_type, status, id DESC)
  CREATE INDEX runs_by_workflow_state ON ONLY runs.runs USING btree (workflow_id, trigger_type, status, id DESC)
  CREATE INDEX runs_live_by_schedule ON ONLY runs.runs USING btree (schedule_id) WHERE ((schedule_id IS NOT NULL) AND (completed_at IS NULL))
  CREATE INDEX runs_live_children ON ONLY runs.runs USING btree (parent_run_id) WHERE (parent_waits AND (completed_at IS NULL))

table runs.scheduler_presence
  column singleton boolean not null default true
  column looked_at timestamp(3) with time zone not null
  column away_from timestamp(3) with time zone
  column away_until timestamp(3) with time zone
  constraint scheduler_presence_one_row CHECK (singleton)
  constraint scheduler_presence_pkey PRIMARY KEY (singleton)

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

table runs.step_results partition by RANGE (run_id)
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
  column input_bytes integer
  column output_bytes integer
  constraint step_results_pkey PRIMARY KEY (run_id, path)
  constraint step_results_status CHECK ((status = ANY (ARRAY['success'::text, 'error'::text, 'skipped'::text])))

table runs.tasks with (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0)
  column run_id text collate "C" not null
  column due_at timestamp with time zone not null default now()
  column fence bigint not null default 0
  column worker_id text
  column takeovers integer not null default 0
  column woken boolean not null default false
  column company_id uuid
  column attempts integer not null default 0
  column begun boolean not null default false
  column pool text collate "C" not null default 'default'::text
  constraint tasks_pkey PRIMARY KEY (run_id)
  CREATE INDEX tasks_due_in_pool ON runs.tasks USING btree (pool, due_at)
  CREATE INDEX tasks_of_company_in_pool ON runs.tasks USING btree (pool, company_id, due_at) WHERE (due_at < 'infinity'::timestamp with time zone)
  CREATE INDEX tasks_taken_over_in_pool ON runs.tasks USING btree (pool, due_at) WHERE (takeovers > 0)

table runs.triggering_events
  column company_id uuid not null
  column event_id text collate "C" not null
  column started json not null
  column created_at timestamp(3) with time zone not null default now()
  constraint triggering_events_pkey PRIMARY KEY (company_id, event_id)
  CREATE INDEX triggering_events_created ON runs.triggering_events USING btree (created_at)

table runs.wake_ups with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0)
  column id bigint not null generated always as identity
  column run_id text collate "C" not null
  constraint wake_ups_pkey PRIMARY KEY (id)

table runs.worker_pools
  column company_id uuid not null
  column tag text collate "C"
  column pool text collate "C" not null
  constraint worker_pools_key UNIQUE NULLS NOT DISTINCT (company_id, tag)
  constraint worker_pools_name CHECK ((pool ~ '^[a-z][a-z0-9-]{0,39}$'::text))

CREATE OR REPLACE FUNCTION runs.detach_partitions(end_id text, wait_ms integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '50ms'
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION runs.drop_detached_partitions()
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '1s'
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION runs.list_partitions(parent text)
 RETURNS TABLE(name text, from_id text, to_id text)
 LANGUAGE sql
 STABLE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION runs.make_partitions(until timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
$function$

CREATE OR REPLACE FUNCTION runs.run_accepted_at(id text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select to_timestamp(sum(
    (strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(id, 5 + place, 1)) - 1)::bigint
      << (5 * (9 - place))
  ) / 1000.0)
  from generate_series(0, 9) as place
$function$

CREATE OR REPLACE FUNCTION runs.run_id_at(moment timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select 'run_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((millis >> (5 * (9 - place))) & 31)::integer, 1),
    '' order by place
  )
  from (select floor(extract(epoch from moment) * 1000)::bigint as millis) as since_epoch,
    generate_series(0, 9) as place
$function$
