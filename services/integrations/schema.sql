table integrations.archived_workflows
  column company_id uuid not null
  column workflow_id uuid not null
  column archived_at timestamp(3) with time zone not null default now()
  constraint archived_workflows_pkey PRIMARY KEY (company_id, workflow_id)

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
  constraint email_sends_pkey PRIMARY KEY (company_id, idempotency_key)
  constraint email_sends_reply CHECK (((state = 'refused'::text) = (reply_code IS NOT NULL)))
  constraint email_sends_state CHECK ((state = ANY (ARRAY['sending'::text, 'open'::text, 'sent'::text, 'refused'::text])))
  CREATE INDEX email_sends_by_age ON integrations.email_sends USING btree (created_at)

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
  constraint secrets_company_key_fkey FOREIGN KEY (company_key_id) REFERENCES integrations.company_keys(id)
  constraint secrets_key_form CHECK ((key ~ '^[A-Z][A-Z0-9_]{0,63}$'::text))
  constraint secrets_key_key UNIQUE (company_id, workflow_id, key)
  constraint secrets_pkey PRIMARY KEY (id)
