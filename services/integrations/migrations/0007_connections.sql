-- Accounts of companies at providers, with the credentials that open them under the company's key.

create table integrations.connections (
  id text collate "C" not null,
  company_id uuid not null,
  name text not null,
  -- The id of a manifest of the catalog (D37).
  provider text collate "C" not null,
  status text not null,
  -- The account at the provider: events from there are routed by it.
  external_account_id text collate "C",
  -- What requests need besides credentials, such as a domain or a realm: texts by name, never secret.
  fields jsonb not null default '{}',
  -- The caller's own words, kept as they were sent.
  metadata json,
  -- What is wrong, for people; and the provider's code of it.
  error_message text,
  error_code text,
  -- Null while there are no credentials: not connected yet, or disconnected.
  company_key_id uuid,
  sealed_credentials bytea,
  -- Counted up with each change of the credentials or fields: who judged older ones changes nothing.
  credentials_version integer not null default 0,
  -- When the credentials were stored, and when an access token among them ends; null where nothing ends.
  credentials_changed_at timestamptz(3),
  credentials_expire_at timestamptz(3),
  -- Somebody renews the credentials until then, and others leave it alone.
  refreshing_until timestamptz(3),
  broker_connection_id text collate "C",
  last_synced_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint connections_pkey primary key (id),
  constraint connections_status check (
    status in ('pending', 'active', 'error', 'expired', 'disconnected', 'abandoned')
  ),
  constraint connections_fields_object check (jsonb_typeof(fields) = 'object'),
  constraint connections_sealed_whole check (
    (company_key_id is null) = (sealed_credentials is null)
  ),
  constraint connections_company_key_fkey foreign key (company_key_id)
    references integrations.company_keys (id)
) with (fillfactor = 80);
-- What is encrypted does not compress.
alter table integrations.connections alter column sealed_credentials set storage external;
-- Lists, newest first (D6).
create index connections_by_company
  on integrations.connections (company_id, created_at desc, id desc);
create index connections_by_account
  on integrations.connections (provider, external_account_id)
  where external_account_id is not null;
create unique index connections_broker_key
  on integrations.connections (broker_connection_id)
  where broker_connection_id is not null;
create index connections_pending
  on integrations.connections (created_at)
  where status = 'pending';

-- Replicas remember what opens an account: each change is told to all of them, whoever makes it.
create function integrations.announce_connection() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('integrations_connections', old.id);
  return null;
end
$$;
-- Who could execute it could put it on a table of their own.
revoke execute on function integrations.announce_connection() from workflow_integrations;

create trigger connections_announce_change after update on integrations.connections
for each row
when (
  old.status is distinct from new.status
  or old.credentials_version is distinct from new.credentials_version
  or old.error_message is distinct from new.error_message
  or old.external_account_id is distinct from new.external_account_id
)
execute function integrations.announce_connection();
create trigger connections_announce_removal after delete on integrations.connections
for each row execute function integrations.announce_connection();

-- Signs this service's list cursors (D6). One row, made here so that all replicas share it.
create table integrations.cursor_key (
  only_row boolean not null default true,
  key bytea not null,
  constraint cursor_key_pkey primary key (only_row),
  constraint cursor_key_single check (only_row)
);
insert into integrations.cursor_key (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
