table integrations.agent_calls with (fillfactor=50)
  column claim uuid not null
  column company_id uuid not null
  column day date not null
  column reserved bigint not null
  column held_until timestamp(3) with time zone not null
  constraint agent_calls_pkey PRIMARY KEY (claim)
  constraint agent_calls_reserved CHECK ((reserved >= 0))

table integrations.agent_executions
  column id text collate "C" not null
  column company_id uuid not null
  column agent_id text collate "C" not null
  column agent_version integer not null
  column status text not null default 'running'::text
  column input json not null
  column user_message text
  column output json
  column raw_output text
  column provider text not null
  column model text not null
  column input_tokens bigint not null default 0
  column output_tokens bigint not null default 0
  column total_tokens bigint not null default 0
  column duration_ms bigint
  column finish_reason text
  column schema_valid boolean
  column repair_attempts smallint not null default 0
  column warnings json not null default '[]'::json
  column workflow_run_id text
  column error json
  column idempotency_key text
  column claim uuid not null
  column created_at timestamp(3) with time zone not null default now()
  column ended_at timestamp(3) with time zone
  constraint agent_executions_ended CHECK (((status = 'running'::text) = (ended_at IS NULL)))
  constraint agent_executions_error CHECK (((status = ANY (ARRAY['failed'::text, 'cancelled'::text])) = (error IS NOT NULL)))
  constraint agent_executions_output CHECK (((status = 'completed'::text) = (output IS NOT NULL)))
  constraint agent_executions_pkey PRIMARY KEY (id)
  constraint agent_executions_status CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
  CREATE INDEX agent_executions_by_agent ON integrations.agent_executions USING btree (company_id, agent_id, created_at DESC, id DESC)
  CREATE UNIQUE INDEX agent_executions_idempotency_key ON integrations.agent_executions USING btree (company_id, idempotency_key) WHERE (idempotency_key IS NOT NULL)
  CREATE UNIQUE INDEX agent_executions_running_key ON integrations.agent_executions USING btree (claim) WHERE (status = 'running'::text)

table integrations.agent_token_days with (fillfactor=50)
  column company_id uuid not null
  column day date not null
  column used bigint not null
  column reserved bigint not null
  constraint agent_token_days_amounts CHECK (((used >= 0) AND (reserved >= 0)))
  constraint agent_token_days_pkey PRIMARY KEY (company_id, day)
  CREATE INDEX agent_token_days_by_day ON integrations.agent_token_days USING btree (day)

table integrations.agents with (fillfactor=80)
  column id uuid not null
  column company_id uuid not null
  column name text collate "C" not null
  column description text
  column type text not null
  column status text not null default 'active'::text
  column provider text not null
  column system_prompt text not null
  column output_schema json
  column temperature double precision not null
  column max_tokens integer not null
  column version integer not null default 1
  column content_bytes integer not null
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  constraint agents_max_tokens CHECK (((max_tokens >= 1) AND (max_tokens <= 128000)))
  constraint agents_pkey PRIMARY KEY (id)
  constraint agents_provider CHECK ((provider = ANY (ARRAY['openai'::text, 'anthropic'::text])))
  constraint agents_status CHECK ((status = ANY (ARRAY['active'::text, 'deprecated'::text])))
  constraint agents_temperature CHECK (((temperature >= (0)::double precision) AND (temperature <= (2)::double precision)))
  constraint agents_type CHECK ((type = ANY (ARRAY['extraction'::text, 'content'::text, 'transform'::text, 'decision'::text, 'code'::text, 'classification'::text, 'custom'::text])))
  constraint agents_version CHECK ((version >= 1))
  CREATE UNIQUE INDEX agents_active_name_key ON integrations.agents USING btree (company_id, name) WHERE (status = 'active'::text)
  CREATE INDEX agents_by_company ON integrations.agents USING btree (company_id, status, created_at DESC, id DESC)

table integrations.archived_workflows
  column company_id uuid not null
  column workflow_id uuid not null
  column archived_at timestamp(3) with time zone not null default now()
  constraint archived_workflows_pkey PRIMARY KEY (company_id, workflow_id)

table integrations.authorization_attempts
  column id uuid not null
  column company_id uuid not null
  column connection_id text collate "C" not null
  column provider text collate "C" not null
  column way text not null
  column token_hash bytea not null
  column callback_url text not null
  column redirect_url text
  column company_key_id uuid
  column sealed_verifier bytea
  column state text not null default 'open'::text
  column confirming_until timestamp(3) with time zone
  column tries integer not null default 0
  column begun_by json not null
  column expires_at timestamp(3) with time zone not null
  column created_at timestamp(3) with time zone not null default now()
  column ended_at timestamp(3) with time zone
  constraint authorization_attempts_company_key_fkey FOREIGN KEY (company_key_id) REFERENCES integrations.company_keys(id)
  constraint authorization_attempts_connection_fkey FOREIGN KEY (connection_id) REFERENCES integrations.connections(id) ON DELETE CASCADE
  constraint authorization_attempts_ended CHECK (((state = 'open'::text) = (ended_at IS NULL)))
  constraint authorization_attempts_pkey PRIMARY KEY (id)
  constraint authorization_attempts_sealed_whole CHECK (((company_key_id IS NULL) = (sealed_verifier IS NULL)))
  constraint authorization_attempts_state CHECK ((state = ANY (ARRAY['open'::text, 'completed'::text, 'replaced'::text, 'abandoned'::text])))
  constraint authorization_attempts_token_key UNIQUE (token_hash)
  constraint authorization_attempts_way CHECK ((way = ANY (ARRAY['embedded'::text, 'broker'::text])))
  CREATE INDEX authorization_attempts_by_connection ON integrations.authorization_attempts USING btree (connection_id, created_at DESC)
  CREATE INDEX authorization_attempts_due ON integrations.authorization_attempts USING btree (expires_at) WHERE (state = 'open'::text)
  CREATE INDEX authorization_attempts_ended ON integrations.authorization_attempts USING btree (ended_at) WHERE (state <> 'open'::text)
  CREATE UNIQUE INDEX authorization_attempts_open_key ON integrations.authorization_attempts USING btree (connection_id) WHERE (state = 'open'::text)
  CREATE INDEX authorization_attempts_open_of_company ON integrations.authorization_attempts USING btree (company_id) WHERE (state = 'open'::text)

table integrations.broker_leftovers
  column attempt_id uuid not null
  column company_id uuid not null
  column integration text collate "C" not null
  column link_ends_at timestamp(3) with time zone not null
  column tries smallint not null default 0
  column next_try_at timestamp(3) with time zone not null default now()
  column last_error text
  column created_at timestamp(3) with time zone not null default now()
  constraint broker_leftovers_pkey PRIMARY KEY (attempt_id)
  CREATE INDEX broker_leftovers_due ON integrations.broker_leftovers USING btree (next_try_at)
  CREATE INDEX broker_leftovers_of_company ON integrations.broker_leftovers USING btree (company_id)

table integrations.company_keys
  column id uuid not null
  column company_id uuid not null
  column kek_id text collate "C" not null
  column wrapped_key bytea not null
  column created_at timestamp(3) with time zone not null default now()
  constraint company_keys_company_key UNIQUE (company_id)
  constraint company_keys_kek_fkey FOREIGN KEY (kek_id) REFERENCES integrations.keks(id)
  constraint company_keys_pkey PRIMARY KEY (id)
  CREATE INDEX company_keys_by_kek ON integrations.company_keys USING btree (kek_id, id)

table integrations.connection_pauses with (fillfactor=50)
  column connection_id text collate "C" not null
  column company_id uuid not null
  column paused_until timestamp with time zone not null
  column next_turn_at timestamp with time zone not null
  column strikes integer not null
  column turns integer not null default 0
  constraint connection_pauses_connection_fkey FOREIGN KEY (connection_id) REFERENCES integrations.connections(id) ON DELETE CASCADE
  constraint connection_pauses_order CHECK ((next_turn_at >= paused_until))
  constraint connection_pauses_pkey PRIMARY KEY (connection_id)
  CREATE INDEX connection_pauses_by_turn ON integrations.connection_pauses USING btree (next_turn_at)

table integrations.connections with (fillfactor=80)
  column id text collate "C" not null
  column company_id uuid not null
  column name text not null
  column provider text collate "C" not null
  column status text not null
  column external_account_id text collate "C"
  column fields jsonb not null default '{}'::jsonb
  column metadata json
  column error_message text
  column error_code text
  column company_key_id uuid
  column sealed_credentials bytea
  column credentials_version integer not null default 0
  column credentials_changed_at timestamp(3) with time zone
  column credentials_expire_at timestamp(3) with time zone
  column refreshing_until timestamp(3) with time zone
  column broker_connection_id text collate "C"
  column last_synced_at timestamp(3) with time zone
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  column renewal_failures smallint not null default 0
  column renew_after timestamp(3) with time zone
  column account_claimed boolean not null default false
  column subscribe_after timestamp(3) with time zone
  column subscription_failures smallint not null default 0
  column subscription_error text
  constraint connections_company_key_fkey FOREIGN KEY (company_key_id) REFERENCES integrations.company_keys(id)
  constraint connections_fields_object CHECK ((jsonb_typeof(fields) = 'object'::text))
  constraint connections_pkey PRIMARY KEY (id)
  constraint connections_sealed_whole CHECK (((company_key_id IS NULL) = (sealed_credentials IS NULL)))
  constraint connections_status CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text, 'error'::text, 'expired'::text, 'disconnected'::text, 'abandoned'::text])))
  CREATE UNIQUE INDEX connections_account_claim_key ON integrations.connections USING btree (provider, external_account_id) WHERE (account_claimed AND (status <> ALL (ARRAY['disconnected'::text, 'abandoned'::text])))
  CREATE INDEX connections_active ON integrations.connections USING btree (company_id, provider, id) WHERE (status = 'active'::text)
  CREATE INDEX connections_active_by_account ON integrations.connections USING btree (provider, external_account_id, company_id, id) WHERE ((status = 'active'::text) AND (external_account_id IS NOT NULL))
  CREATE UNIQUE INDEX connections_broker_key ON integrations.connections USING btree (broker_connection_id) WHERE (broker_connection_id IS NOT NULL)
  CREATE INDEX connections_by_company ON integrations.connections USING btree (company_id, created_at DESC, id DESC)
  CREATE INDEX connections_ending ON integrations.connections USING btree (credentials_expire_at) WHERE ((status = 'active'::text) AND (credentials_expire_at IS NOT NULL))
  CREATE INDEX connections_not_renewed ON integrations.connections USING btree (renew_after) WHERE ((status = 'error'::text) AND (error_code = 'not_renewed'::text))
  CREATE INDEX connections_pending ON integrations.connections USING btree (created_at) WHERE (status = 'pending'::text)
  CREATE INDEX connections_to_subscribe ON integrations.connections USING btree (provider, COALESCE(subscribe_after, '-infinity'::timestamp with time zone)) WHERE (status = 'active'::text)
  CREATE TRIGGER connections_announce_change AFTER UPDATE ON integrations.connections FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) OR (old.credentials_version IS DISTINCT FROM new.credentials_version) OR (old.error_message IS DISTINCT FROM new.error_message) OR (old.external_account_id IS DISTINCT FROM new.external_account_id))) EXECUTE FUNCTION integrations.announce_connection()
  CREATE TRIGGER connections_announce_removal AFTER DELETE ON integrations.connections FOR EACH ROW EXECUTE FUNCTION integrations.announce_connection()

table integrations.cursor_key
  column only_row boolean not null default true
  column key bytea not null
  constraint cursor_key_pkey PRIMARY KEY (only_row)
  constraint cursor_key_single CHECK (only_row)

table integrations.dead_letters
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
  CREATE INDEX dead_letters_age_idx ON integrations.dead_letters USING btree (last_failed_at)
  CREATE INDEX dead_letters_redrive_idx ON integrations.dead_letters USING btree (redrive_at) WHERE (redrive_at IS NOT NULL)

table integrations.email_sends
  column company_id uuid not null
  column idempotency_key text not null
  column state text not null
  column claim uuid not null
  column claimed_until timestamp(3) with time zone not null
  column rejected_positions smallint[] not null default '{}'::smallint[]
  column reply_code smallint
  column reply_status text
  column created_at timestamp(3) with time zone not null default now()
  column provider_message_id text
  constraint email_sends_pkey PRIMARY KEY (company_id, idempotency_key)
  constraint email_sends_reply CHECK (((state = 'refused'::text) = (reply_code IS NOT NULL)))
  constraint email_sends_state CHECK ((state = ANY (ARRAY['sending'::text, 'open'::text, 'sent'::text, 'refused'::text])))
  CREATE INDEX email_sends_by_age ON integrations.email_sends USING btree (created_at)

table integrations.email_usage
  column company_id uuid not null
  column day date not null
  column recipients integer not null
  constraint email_usage_pkey PRIMARY KEY (company_id, day)
  constraint email_usage_recipients CHECK ((recipients >= 0))
  CREATE INDEX email_usage_by_day ON integrations.email_usage USING btree (day)

table integrations.keks
  column id text collate "C" not null
  column created_at timestamp(3) with time zone not null default now()
  constraint keks_pkey PRIMARY KEY (id)

table integrations.outbox
  column seq bigint not null generated always as identity
  column stream text not null default 'integrations'::text
  column id text not null
  column type text not null
  column company_id uuid not null
  column payload json not null
  column created_at timestamp with time zone not null default now()
  column published_at timestamp with time zone
  constraint outbox_id_key UNIQUE (id)
  constraint outbox_pkey PRIMARY KEY (seq)
  CREATE INDEX outbox_pending ON integrations.outbox USING btree (stream, seq) WHERE (published_at IS NULL)

table integrations.revocations
  column id uuid not null
  column company_id uuid not null
  column connection_id text collate "C" not null
  column provider text collate "C" not null
  column fields jsonb not null
  column company_key_id uuid
  column sealed_credentials bytea
  column broker_connection_id text collate "C"
  column tries smallint not null default 0
  column next_try_at timestamp(3) with time zone not null default now()
  column last_error text
  column created_at timestamp(3) with time zone not null default now()
  column external_account_id text collate "C"
  constraint revocations_company_key_fkey FOREIGN KEY (company_key_id) REFERENCES integrations.company_keys(id)
  constraint revocations_pkey PRIMARY KEY (id)
  constraint revocations_sealed_whole CHECK (((company_key_id IS NULL) = (sealed_credentials IS NULL)))
  CREATE INDEX revocations_due ON integrations.revocations USING btree (next_try_at)

table integrations.revoked_tokens
  column jti text collate "C" not null
  column expires_at timestamp(3) with time zone not null
  column revoked_at timestamp(3) with time zone not null default now()
  constraint revoked_tokens_pkey PRIMARY KEY (jti)
  CREATE INDEX revoked_tokens_expiry_idx ON integrations.revoked_tokens USING btree (expires_at)

table integrations.secrets with (fillfactor=90)
  column id uuid not null
  column company_id uuid not null
  column workflow_id uuid not null
  column key text collate "C" not null
  column company_key_id uuid not null
  column sealed_value bytea not null
  column masked_value text not null
  column last_used_at timestamp(3) with time zone
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  column allowed_hosts text[]
  constraint secrets_allowed_hosts CHECK (((cardinality(allowed_hosts) >= 1) AND (cardinality(allowed_hosts) <= 20)))
  constraint secrets_company_key_fkey FOREIGN KEY (company_key_id) REFERENCES integrations.company_keys(id)
  constraint secrets_key_form CHECK ((key ~ '^[A-Z][A-Z0-9_]{0,63}$'::text))
  constraint secrets_key_key UNIQUE (company_id, workflow_id, key)
  constraint secrets_pkey PRIMARY KEY (id)

CREATE OR REPLACE FUNCTION integrations.announce_connection()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('integrations_connections', old.id);
  return null;
end
$function$
