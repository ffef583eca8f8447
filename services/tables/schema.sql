table tables.folders
  column id uuid not null
  column company_id uuid not null
  column name text collate "C" not null
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  constraint folders_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint folders_name_unique UNIQUE (company_id, name)
  constraint folders_pkey PRIMARY KEY (id)

table tables.outbox
  column seq bigint not null generated always as identity
  column stream text not null default 'tables'::text
  column id text not null
  column type text not null
  column company_id uuid not null
  column payload json not null
  column created_at timestamp with time zone not null default now()
  column published_at timestamp with time zone
  constraint outbox_id_key UNIQUE (id)
  constraint outbox_pkey PRIMARY KEY (seq)
  CREATE INDEX outbox_pending ON tables.outbox USING btree (stream, seq) WHERE (published_at IS NULL)

table tables.revoked_tokens
  column jti text collate "C" not null
  column expires_at timestamp(3) with time zone not null
  column revoked_at timestamp(3) with time zone not null default now()
  constraint revoked_tokens_pkey PRIMARY KEY (jti)
  CREATE INDEX revoked_tokens_expiry_idx ON tables.revoked_tokens USING btree (expires_at)

table tables.row_deletions
  column table_key bigint not null
  column revision bigint not null
  column position bigint not null
  column deleted_at timestamp with time zone not null default now()
  constraint row_deletions_pkey PRIMARY KEY (table_key, revision, "position")
  CREATE INDEX row_deletions_age_idx ON tables.row_deletions USING btree (deleted_at)

table tables.row_write_keys
  column table_key bigint not null
  column key text collate "C" not null
  column row_id uuid not null
  column position bigint not null
  column revision bigint not null
  column created_at timestamp(3) with time zone not null default now()
  constraint row_write_keys_pkey PRIMARY KEY (table_key, key)
  CREATE INDEX row_write_keys_age_idx ON tables.row_write_keys USING btree (created_at)

table tables.rows
  column table_key bigint not null
  column position bigint not null
  column id uuid not null
  column data json not null
  column revision bigint not null
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  constraint rows_id_key UNIQUE (id)
  constraint rows_pkey PRIMARY KEY (table_key, "position")
  CREATE INDEX rows_by_revision_idx ON tables.rows USING btree (table_key, revision) WHERE (revision > 0)
  CREATE TRIGGER rows_deleted_bytes AFTER DELETE ON tables.rows REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION tables.count_row_bytes()
  CREATE TRIGGER rows_inserted_bytes AFTER INSERT ON tables.rows REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tables.count_row_bytes()
  CREATE TRIGGER rows_updated_bytes AFTER UPDATE ON tables.rows REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tables.count_row_bytes()

table tables.table_states with (fillfactor=50)
  column table_key bigint not null
  column company_id uuid not null
  column max_rows integer not null
  column row_count integer not null default 0
  column next_position bigint not null default 0
  column revision bigint not null default 0
  column deletions_forgotten_to bigint not null default 0
  column schema_revision bigint not null default 1
  column row_bytes bigint not null default 0
  constraint table_states_max_rows_range CHECK (((max_rows >= 1) AND (max_rows <= 100000)))
  constraint table_states_pkey PRIMARY KEY (table_key)
  constraint table_states_row_count_positive CHECK ((row_count >= 0))
  constraint table_states_table_fkey FOREIGN KEY (table_key) REFERENCES tables.tables(key)
  CREATE INDEX table_states_company_idx ON tables.table_states USING btree (company_id)

table tables.tables
  column key bigint not null generated always as identity
  column id uuid not null
  column company_id uuid not null
  column name text not null
  column description text
  column schema json not null
  column metadata json not null
  column folder_id uuid
  column row_events boolean not null default false
  column created_at timestamp(3) with time zone not null default now()
  column updated_at timestamp(3) with time zone not null default now()
  constraint tables_folder_fkey FOREIGN KEY (folder_id) REFERENCES tables.folders(id)
  constraint tables_id_key UNIQUE (id)
  constraint tables_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint tables_pkey PRIMARY KEY (key)
  CREATE INDEX tables_folder_idx ON tables.tables USING btree (folder_id, created_at DESC, id DESC) WHERE (folder_id IS NOT NULL)
  CREATE INDEX tables_list_idx ON tables.tables USING btree (company_id, created_at DESC, id DESC)

CREATE OR REPLACE FUNCTION tables.count_row_bytes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'INSERT' then
    update tables.table_states as state
    set row_bytes = state.row_bytes + (
      select sum(octet_length(r.data::text)) from added as r where r.table_key = state.table_key
    )
    where state.table_key = any(array(select distinct r.table_key from added as r));
  elsif tg_op = 'UPDATE' then
    -- No row goes from one table to another.
    update tables.table_states as state
    set row_bytes = state.row_bytes
      + (select sum(octet_length(r.data::text)) from added as r where r.table_key = state.table_key)
      - (select sum(octet_length(r.data::text)) from removed as r where r.table_key = state.table_key)
    where state.table_key = any(array(select distinct r.table_key from added as r));
  else
    -- Of a deleted table the state is gone, and nothing is unpacked to be counted.
    update tables.table_states as state
    set row_bytes = state.row_bytes - (
      select sum(octet_length(r.data::text)) from removed as r where r.table_key = state.table_key
    )
    where state.table_key = any(array(select distinct r.table_key from removed as r));
  end if;
  return null;
end
$function$

CREATE OR REPLACE FUNCTION tables.history()
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8)
    || '-' || extract(epoch from pg_catalog.pg_postmaster_start_time())::text
    || '-' || 'tables.table_states'::regclass::oid::text;
exception
  -- A standby writes no log.
  when object_not_in_prerequisite_state then
    raise exception using
      errcode = 'read_only_sql_transaction',
      message = 'this server is a standby; data tables are read from the primary only';
  -- Servers that somebody else manages may refuse the log. A standby that takes over there has another
  -- start.
  when insufficient_privilege or undefined_function or feature_not_supported then
    if pg_catalog.pg_is_in_recovery() then
      raise exception using
        errcode = 'read_only_sql_transaction',
        message = 'this server is a standby; data tables are read from the primary only';
    end if;
    return extract(epoch from pg_catalog.pg_postmaster_start_time())::text
      || '-' || 'tables.table_states'::regclass::oid::text;
end
$function$
