table gateway.account_tries
  column subject bytea not null
  column failures integer not null
  column next_try_at timestamp with time zone not null
  column last_tried_at timestamp with time zone not null
  column refusal_noted_at timestamp with time zone
  constraint account_tries_pkey PRIMARY KEY (subject)
  constraint account_tries_subject_length CHECK ((octet_length(subject) = 32))
  CREATE INDEX account_tries_last_idx ON gateway.account_tries USING btree (last_tried_at)

table gateway.api_keys
  column id uuid not null
  column company_id uuid not null
  column name text not null
  column key_hash bytea not null
  column key_prefix text not null
  column scopes text[] not null
  column created_by uuid
  column created_at timestamp(3) with time zone not null default now()
  column expires_at timestamp(3) with time zone
  column revoked_at timestamp(3) with time zone
  column last_used_at timestamp(3) with time zone
  column created_by_name text
  constraint api_keys_company_fkey FOREIGN KEY (company_id) REFERENCES gateway.companies(id) ON DELETE CASCADE
  constraint api_keys_hash_key UNIQUE (key_hash)
  constraint api_keys_hash_length CHECK ((octet_length(key_hash) = 32))
  constraint api_keys_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint api_keys_pkey PRIMARY KEY (id)
  CREATE INDEX api_keys_created_by_idx ON gateway.api_keys USING btree (company_id, created_by)
  CREATE INDEX api_keys_list_idx ON gateway.api_keys USING btree (company_id, created_at DESC, id DESC)

table gateway.audit_heads with (fillfactor=50)
  column company_id uuid not null
  column seq bigint not null
  column hash bytea not null
  constraint audit_heads_pkey PRIMARY KEY (company_id)

table gateway.audit_log
  column company_id uuid not null
  column seq bigint not null
  column event_id text collate "C" not null
  column action text collate "C" not null
  column resource_type text collate "C" not null
  column resource_id text collate "C" not null
  column actor_type text not null
  column actor_id text collate "C" not null
  column actor_name text
  column ip_address text
  column user_agent text
  column request_id text
  column changes json not null
  column created_at timestamp(3) with time zone not null
  column prev_hash bytea not null
  column hash bytea not null
  constraint audit_log_event_key UNIQUE (company_id, event_id)
  constraint audit_log_hash_length CHECK (((octet_length(prev_hash) = 32) AND (octet_length(hash) = 32)))
  constraint audit_log_pkey PRIMARY KEY (company_id, seq)
  constraint audit_log_seq_positive CHECK ((seq > 0))
  CREATE INDEX audit_log_by_action ON gateway.audit_log USING btree (company_id, action, event_id)
  CREATE INDEX audit_log_by_actor ON gateway.audit_log USING btree (company_id, actor_id, event_id)
  CREATE INDEX audit_log_by_resource ON gateway.audit_log USING btree (company_id, resource_id, event_id)
  CREATE INDEX audit_log_by_resource_type ON gateway.audit_log USING btree (company_id, resource_type, event_id)
  CREATE TRIGGER audit_log_chain BEFORE INSERT ON gateway.audit_log FOR EACH ROW EXECUTE FUNCTION gateway.extend_audit_chain()

table gateway.audit_starts
  column company_id uuid not null
  column seq bigint not null
  column hash bytea not null
  column moved_at timestamp(3) with time zone not null default now()
  constraint audit_starts_hash_length CHECK ((octet_length(hash) = 32))
  constraint audit_starts_pkey PRIMARY KEY (company_id)

table gateway.companies
  column id uuid not null
  column name text not null
  column created_at timestamp(3) with time zone not null default now()
  column rate_limit_read integer
  column rate_limit_write integer
  column rate_limit_execute integer
  constraint companies_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint companies_pkey PRIMARY KEY (id)
  constraint companies_rate_limits_range CHECK ((LEAST(rate_limit_read, rate_limit_write, rate_limit_execute) >= 0))

table gateway.cursor_key
  column only_row boolean not null default true
  column key bytea not null
  constraint cursor_key_pkey PRIMARY KEY (only_row)
  constraint cursor_key_single CHECK (only_row)

table gateway.dead_letters
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
  CREATE INDEX dead_letters_age_idx ON gateway.dead_letters USING btree (last_failed_at)
  CREATE INDEX dead_letters_redrive_idx ON gateway.dead_letters USING btree (redrive_at) WHERE (redrive_at IS NOT NULL)

table gateway.invitations
  column id uuid not null
  column company_id uuid not null
  column email text not null
  column name text not null
  column role text not null
  column password_hash text not null
  column created_at timestamp(3) with time zone not null default now()
  constraint invitations_company_email_key UNIQUE (company_id, email)
  constraint invitations_company_fkey FOREIGN KEY (company_id) REFERENCES gateway.companies(id) ON DELETE CASCADE
  constraint invitations_email_length CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254)))
  constraint invitations_email_lower_case CHECK ((email = lower(email)))
  constraint invitations_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint invitations_pkey PRIMARY KEY (id)
  constraint invitations_role_known CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
  CREATE INDEX invitations_email_idx ON gateway.invitations USING btree (email, created_at, id)
  CREATE INDEX invitations_list_idx ON gateway.invitations USING btree (company_id, created_at DESC, id DESC)

table gateway.known_networks
  column user_id uuid not null
  column network bytea not null
  column last_signed_in_at timestamp with time zone not null
  constraint known_networks_length CHECK ((octet_length(network) = 32))
  constraint known_networks_pkey PRIMARY KEY (user_id, network)
  constraint known_networks_user_fkey FOREIGN KEY (user_id) REFERENCES gateway.users(id) ON DELETE CASCADE

table gateway.memberships
  column company_id uuid not null
  column user_id uuid not null
  column role text not null
  column created_at timestamp(3) with time zone not null default now()
  column last_signed_in_at timestamp(3) with time zone
  constraint memberships_company_fkey FOREIGN KEY (company_id) REFERENCES gateway.companies(id) ON DELETE CASCADE
  constraint memberships_pkey PRIMARY KEY (company_id, user_id)
  constraint memberships_role_known CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
  constraint memberships_user_fkey FOREIGN KEY (user_id) REFERENCES gateway.users(id) ON DELETE CASCADE
  CREATE INDEX memberships_list_idx ON gateway.memberships USING btree (company_id, created_at DESC, user_id DESC)
  CREATE INDEX memberships_user_idx ON gateway.memberships USING btree (user_id)

table gateway.sessions
  column id uuid not null
  column token_hash bytea not null
  column company_id uuid not null
  column user_id uuid not null
  column created_at timestamp(3) with time zone not null default now()
  column last_used_at timestamp(3) with time zone not null default now()
  column expires_at timestamp(3) with time zone not null
  constraint sessions_membership_fkey FOREIGN KEY (company_id, user_id) REFERENCES gateway.memberships(company_id, user_id) ON DELETE CASCADE
  constraint sessions_pkey PRIMARY KEY (id)
  constraint sessions_token_key UNIQUE (token_hash)
  constraint sessions_token_length CHECK ((octet_length(token_hash) = 32))
  CREATE INDEX sessions_expires_idx ON gateway.sessions USING btree (expires_at)
  CREATE INDEX sessions_membership_idx ON gateway.sessions USING btree (company_id, user_id)
  CREATE INDEX sessions_user_idx ON gateway.sessions USING btree (user_id)

table gateway.sign_in_tries
  column subject bytea not null
  column tried_at timestamp with time zone[] not null
  column last_tried_at timestamp with time zone not null
  constraint sign_in_tries_pkey PRIMARY KEY (subject)
  constraint sign_in_tries_subject_length CHECK ((octet_length(subject) = 32))
  CREATE INDEX sign_in_tries_last_idx ON gateway.sign_in_tries USING btree (last_tried_at)

table gateway.users
  column id uuid not null
  column email text not null
  column name text not null
  column password_hash text not null
  column created_at timestamp(3) with time zone not null default now()
  constraint users_email_key UNIQUE (email)
  constraint users_email_length CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254)))
  constraint users_email_lower_case CHECK ((email = lower(email)))
  constraint users_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint users_pkey PRIMARY KEY (id)

CREATE OR REPLACE FUNCTION gateway.extend_audit_chain()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if new.seq = 1 and new.prev_hash = decode(repeat('00', 32), 'hex') then
    insert into gateway.audit_heads (company_id, seq, hash)
    values (new.company_id, new.seq, new.hash);
  else
    update gateway.audit_heads
    set seq = new.seq, hash = new.hash
    where company_id = new.company_id and seq = new.seq - 1 and hash = new.prev_hash;
    if not found then
      raise exception 'row % does not continue the audit chain of company %', new.seq, new.company_id
        using errcode = 'integrity_constraint_violation', constraint = 'audit_log_chain';
    end if;
  end if;
  return new;
end
$function$

CREATE OR REPLACE FUNCTION gateway.trim_audit_chain(company uuid, until_seq bigint)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  start_seq bigint;
  removed integer;
  newest timestamptz;
  last_seq bigint;
  last_hash bytea;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit trim', 0));
  select seq into start_seq from gateway.audit_starts where company_id = company;
  start_seq := coalesce(start_seq, 0);
  with gone as (
    delete from gateway.audit_log
    where company_id = company and seq > start_seq and seq <= until_seq
    returning seq, hash, created_at
  )
  select count(*), max(created_at), max(seq), (array_agg(hash order by seq desc))[1]
  into removed, newest, last_seq, last_hash
  from gone;
  if removed = 0 then return 0; end if;
  if newest > now() - interval '29 days' then
    raise exception 'rows of the audit log of company % are too young to be removed', company
      using errcode = 'integrity_constraint_violation', constraint = 'audit_log_young';
  end if;
  -- A gap is for verify-audit to be found.
  if last_seq <> until_seq or removed <> until_seq - start_seq then
    raise exception 'the audit chain of company % has a gap before row %', company, until_seq
      using errcode = 'integrity_constraint_violation', constraint = 'audit_log_chain';
  end if;
  insert into gateway.audit_starts (company_id, seq, hash)
  values (company, last_seq, last_hash)
  on conflict (company_id) do update
  set seq = excluded.seq, hash = excluded.hash, moved_at = excluded.moved_at;
  return removed;
end
$function$
