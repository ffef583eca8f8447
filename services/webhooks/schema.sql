table webhooks.company_keys
  column id uuid not null
  column company_id uuid not null
  column kek_id text collate "C" not null
  column wrapped_key bytea not null
  column created_at timestamp(3) with time zone not null default now()
  constraint company_keys_company_key UNIQUE (company_id)
  constraint company_keys_kek_fkey FOREIGN KEY (kek_id) REFERENCES webhooks.keks(id)
  constraint company_keys_pkey PRIMARY KEY (id)
  CREATE INDEX company_keys_by_kek ON webhooks.company_keys USING btree (kek_id, id)

table webhooks.comparisons
  column only_row boolean not null default true
  column compared_until timestamp(3) with time zone not null default now()
  column begun_at timestamp(3) with time zone not null default '-infinity'::timestamp with time zone
  constraint comparisons_pkey PRIMARY KEY (only_row)
  constraint comparisons_single CHECK (only_row)

table webhooks.cursor_key
  column only_row boolean not null default true
  column key bytea not null
  constraint cursor_key_pkey PRIMARY KEY (only_row)
  constraint cursor_key_single CHECK (only_row)

table webhooks.dead_letters
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
  CREATE INDEX dead_letters_age_idx ON webhooks.dead_letters USING btree (last_failed_at)
  CREATE INDEX dead_letters_redrive_idx ON webhooks.dead_letters USING btree (redrive_at) WHERE (redrive_at IS NOT NULL)

table webhooks.deliveries partition by RANGE (id)
  column id text collate "C" not null
  column endpoint_id text collate "C" not null
  column company_id uuid not null
  column event_id text collate "C" not null
  column event_type text not null
  column workflow_id text
  column run_id text collate "C"
  column is_test boolean not null default false
  column status text not null default 'pending'::text
  column attempt_count integer not null default 0
  column max_attempts integer not null default 8
  column next_attempt_at timestamp(3) with time zone
  column body_bytes integer not null
  column last_status_code integer
  column last_error text
  column duration_ms integer
  column attempts json not null default '[]'::json
  column created_at timestamp(3) with time zone not null default now()
  column delivered_at timestamp(3) with time zone
  constraint deliveries_delivered CHECK (((delivered_at IS NULL) = (status <> 'succeeded'::text)))
  constraint deliveries_due CHECK (((next_attempt_at IS NULL) = (status <> 'pending'::text)))
  constraint deliveries_pkey PRIMARY KEY (id)
  constraint deliveries_status CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
  CREATE INDEX deliveries_by_endpoint ON ONLY webhooks.deliveries USING btree (endpoint_id, id DESC)
  CREATE INDEX deliveries_due ON ONLY webhooks.deliveries USING btree (endpoint_id, next_attempt_at, id) WHERE (status = 'pending'::text)
  CREATE INDEX deliveries_failed ON ONLY webhooks.deliveries USING btree (endpoint_id, id DESC) WHERE (status = 'failed'::text)

table webhooks.endpoints with (fillfactor=80)
  column id text collate "C" not null
  column company_id uuid not null
  column name text not null
  column url text not null
  column events text[]
  column workflow_ids text[]
  column description text
  column rate_limit_per_second integer
  column company_key_id uuid not null
  column sealed bytea not null
  column sealed_old_secret bytea
  column old_secret_expires_at timestamp(3) with time zone
  column status text not null default 'active'::text
  column disabled_reason text
  column disabled_at timestamp(3) with time zone
  column consecutive_failures integer not null default 0
  column hears_since timestamp(3) with time zone not null default now()
  column selects_since timestamp(3) with time zone not null default now()
  column former_events text[]
  column former_workflow_ids text[]
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  constraint endpoints_company_key_fkey FOREIGN KEY (company_key_id) REFERENCES webhooks.company_keys(id)
  constraint endpoints_disabled CHECK ((((status = 'disabled'::text) = (disabled_at IS NOT NULL)) AND ((status = 'disabled'::text) = (disabled_reason IS NOT NULL))))
  constraint endpoints_old_secret CHECK (((sealed_old_secret IS NULL) = (old_secret_expires_at IS NULL)))
  constraint endpoints_pkey PRIMARY KEY (id)
  constraint endpoints_reason CHECK ((disabled_reason = ANY (ARRAY['consecutive_failures'::text, 'gone'::text, 'caller'::text])))
  constraint endpoints_status CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
  CREATE INDEX endpoints_by_company ON webhooks.endpoints USING btree (company_id, id DESC)

table webhooks.inbound_event_keys
  column provider text collate "C" not null
  column company_id uuid not null
  column key text collate "C" not null
  column event_ids text[] collate "C" not null
  column created_at timestamp(3) with time zone not null default now()
  constraint inbound_event_keys_pkey PRIMARY KEY (provider, company_id, key)
  CREATE INDEX inbound_event_keys_by_age ON webhooks.inbound_event_keys USING btree (created_at)

table webhooks.inbound_events partition by RANGE (id)
  column id text collate "C" not null
  column company_id uuid
  column provider text collate "C" not null
  column account_ids text[] not null
  column path text
  column event_type text
  column external_event_id text
  column message_key text
  column payload json
  column payload_bytes integer not null
  column trigger_data json
  column signature_verified text not null
  column status text not null
  column is_refused boolean not null default false
  column started json not null default '[]'::json
  column error text
  column attempts integer not null default 0
  column due_at timestamp(3) with time zone
  column replayed_from text collate "C"
  column request_id text
  column created_at timestamp(3) with time zone not null default now()
  constraint inbound_events_due CHECK (((due_at IS NULL) = (status <> ALL (ARRAY['received'::text, 'processing'::text]))))
  constraint inbound_events_pkey PRIMARY KEY (id)
  constraint inbound_events_signature CHECK ((signature_verified = ANY (ARRAY['pending'::text, 'verified'::text, 'failed'::text, 'skipped'::text])))
  constraint inbound_events_status CHECK ((status = ANY (ARRAY['received'::text, 'processing'::text, 'processed'::text, 'failed'::text, 'ignored'::text])))
  CREATE INDEX inbound_events_by_company ON ONLY webhooks.inbound_events USING btree (company_id, id DESC)
  CREATE INDEX inbound_events_due ON ONLY webhooks.inbound_events USING btree (company_id, due_at) WHERE (due_at IS NOT NULL)
  CREATE INDEX inbound_events_failed ON ONLY webhooks.inbound_events USING btree (company_id, id DESC) WHERE (status = 'failed'::text)

table webhooks.keks
  column id text collate "C" not null
  constraint keks_pkey PRIMARY KEY (id)

table webhooks.lanes with (fillfactor=50)
  column endpoint_id text collate "C" not null
  column company_id uuid not null
  column due_at timestamp(3) with time zone
  column owner uuid
  column leased_until timestamp(3) with time zone
  column epoch bigint not null default 0
  constraint lanes_endpoint_fkey FOREIGN KEY (endpoint_id) REFERENCES webhooks.endpoints(id) ON DELETE CASCADE
  constraint lanes_lease CHECK (((owner IS NULL) = (leased_until IS NULL)))
  constraint lanes_pkey PRIMARY KEY (endpoint_id)
  CREATE INDEX lanes_due ON webhooks.lanes USING btree (company_id, due_at) WHERE (due_at IS NOT NULL)

table webhooks.left_deliveries
  column endpoint_id text collate "C" not null
  column company_id uuid not null
  column made_before timestamp(3) with time zone
  column noted_at timestamp(3) with time zone not null default now()
  constraint left_deliveries_pkey PRIMARY KEY (endpoint_id)

table webhooks.outbound_events partition by RANGE (id)
  column id text collate "C" not null
  column company_id uuid not null
  column type text not null
  column workflow_id text
  column run_id text collate "C"
  column occurred_at timestamp(3) with time zone not null
  column endpoint_id text collate "C"
  column envelope json not null
  column body text
  column fanned_out_at timestamp(3) with time zone
  column attempts integer not null default 0
  column error text
  column failed_at timestamp(3) with time zone
  column due_at timestamp(3) with time zone
  column created_at timestamp(3) with time zone not null default now()
  constraint outbound_events_due CHECK (((due_at IS NULL) = ((fanned_out_at IS NOT NULL) OR (failed_at IS NOT NULL))))
  constraint outbound_events_pkey PRIMARY KEY (id)
  CREATE INDEX outbound_events_due ON ONLY webhooks.outbound_events USING btree (company_id, due_at, id) WHERE (due_at IS NOT NULL)
  CREATE INDEX outbound_events_failed ON ONLY webhooks.outbound_events USING btree (id) WHERE (failed_at IS NOT NULL)

table webhooks.outbox with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=10000, autovacuum_vacuum_cost_delay=0)
  column seq bigint not null generated always as identity
  column stream text not null default 'webhooks'::text
  column id text not null
  column type text not null
  column company_id uuid not null
  column payload json not null
  column created_at timestamp with time zone not null default now()
  column published_at timestamp with time zone
  CREATE INDEX outbox_pending ON webhooks.outbox USING btree (stream, seq) WHERE (published_at IS NULL)

table webhooks.partitioned_tables
  column name text not null
  column prefix text not null
  constraint partitioned_tables_pkey PRIMARY KEY (name)

table webhooks.revoked_tokens
  column jti text collate "C" not null
  column expires_at timestamp(3) with time zone not null
  column revoked_at timestamp(3) with time zone not null default now()
  constraint revoked_tokens_pkey PRIMARY KEY (jti)
  CREATE INDEX revoked_tokens_expiry_idx ON webhooks.revoked_tokens USING btree (expires_at)

CREATE OR REPLACE FUNCTION webhooks.detach_partition(part text, moment timestamp with time zone, wait_ms integer)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '50ms'
AS $function$
declare
  ended record;
begin
  select parts.parent, parts.name into ended
  from webhooks.list_partitions() as parts
  join webhooks.partitioned_tables as known on known.name = parts.parent
  where parts.name = part
    and parts.upper_id collate "C" <= webhooks.id_at(known.prefix, moment) collate "C"
    and moment < now() - interval '1 day';
  if not found then return false; end if;
  perform set_config('lock_timeout', greatest(1, wait_ms) || 'ms', true);
  execute format('alter table webhooks.%I detach partition webhooks.%I', ended.parent, ended.name);
  return true;
end
$function$

CREATE OR REPLACE FUNCTION webhooks.drop_detached_partitions()
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
  perform pg_advisory_xact_lock(hashtextextended('webhooks partitions', 0));
  for part in
    select relname from pg_class
    where relnamespace = 'webhooks'::regnamespace and relkind = 'r' and not relispartition
      and relname ~ '^(inbound_events|outbound_events|deliveries)_(first|\d{4}_w\d{2})$'
  loop
    execute format('drop table webhooks.%I', part);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$function$

CREATE OR REPLACE FUNCTION webhooks.id_at(prefix text, moment timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select prefix || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + ((millis >> (5 * (9 - place))) & 31)::integer, 1),
    '' order by place
  )
  from (select floor(extract(epoch from moment) * 1000)::bigint as millis) as since_epoch,
    generate_series(0, 9) as place
$function$

CREATE OR REPLACE FUNCTION webhooks.list_partitions()
 RETURNS TABLE(parent text, name text, upper_id text)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select known.name, part.relname,
    substring(pg_get_expr(part.relpartbound, part.oid) from 'TO \(''([^'']+)''\)')
  from webhooks.partitioned_tables as known
  join pg_inherits as link on link.inhparent = format('webhooks.%I', known.name)::regclass
  join pg_class as part on part.oid = link.inhrelid
  order by 3, 1
$function$

CREATE OR REPLACE FUNCTION webhooks.make_partitions(until timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
declare
  parent record;
  part text;
  week timestamptz;
  made integer := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhooks partitions', 0));
  for parent in select name, prefix from webhooks.partitioned_tables order by name loop
    week := date_trunc('week', now(), 'UTC');
    if not exists (
      select from pg_inherits where inhparent = format('webhooks.%I', parent.name)::regclass
    ) then
      execute format(
        'create table webhooks.%I partition of webhooks.%I for values from (minvalue) to (%L)',
        parent.name || '_first', parent.name,
        webhooks.id_at(parent.prefix, date_trunc('week', now(), 'UTC'))
      );
      made := made + 1;
    end if;
    while week <= until loop
      part := parent.name || to_char(week at time zone 'UTC', '_IYYY_"w"IW');
      if to_regclass(format('webhooks.%I', part)) is null then
        execute format(
          'create table webhooks.%I (like webhooks.%I including all)', part, parent.name
        );
        execute format(
          'alter table webhooks.%I attach partition webhooks.%I for values from (%L) to (%L)',
          parent.name, part, webhooks.id_at(parent.prefix, week),
          webhooks.id_at(parent.prefix, week + interval '7 days')
        );
        made := made + 1;
      end if;
      week := week + interval '7 days';
    end loop;
  end loop;
  return made;
end
$function$

CREATE OR REPLACE FUNCTION webhooks.with_attempt(attempts json, attempt text)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select case
    when json_array_length(attempts) = 0 then '[' || attempt || ']'
    when json_array_length(attempts) < 50 then rtrim(attempts::text, ']') || ',' || attempt || ']'
    else (
      select '[' || string_agg(kept.value::text, ',' order by kept.position) || ',' || attempt || ']'
      from json_array_elements(attempts) with ordinality as kept (value, position)
      where kept.position > json_array_length(attempts) - 49
    )
  end::json
$function$
