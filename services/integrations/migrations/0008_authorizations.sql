-- Attempts of people to connect accounts (D38, D39), and access that is still to be taken back.

create table integrations.authorization_attempts (
  id uuid not null,
  company_id uuid not null,
  connection_id text collate "C" not null,
  -- The id of a manifest of the catalog.
  provider text collate "C" not null,
  -- embedded: our own OAuth client; broker: the broker's connect page.
  way text not null,
  -- SHA-256 of the token in `state` or in the page's address; whoever has it may go on with the attempt.
  token_hash bytea not null,
  -- What the provider sends the person back to.
  callback_url text not null,
  -- The only place where the callback may send the person; null: nowhere.
  redirect_url text,
  -- The proof key (RFC 7636), encrypted; null where none is used.
  company_key_id uuid,
  sealed_verifier bytea,
  state text not null default 'open',
  -- Somebody asks the provider or broker for the outcome until then, and others wait.
  confirming_until timestamptz(3),
  -- How often the provider or broker was asked: who has the token of an attempt can't ask without end.
  tries smallint not null default 0,
  -- Who began it, for the audit log: type, id and name of a principal.
  begun_by json not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  constraint authorization_attempts_pkey primary key (id),
  constraint authorization_attempts_token_key unique (token_hash),
  constraint authorization_attempts_way check (way in ('embedded', 'broker')),
  constraint authorization_attempts_state check (
    state in ('open', 'completed', 'replaced', 'abandoned')
  ),
  constraint authorization_attempts_ended check ((state = 'open') = (ended_at is null)),
  constraint authorization_attempts_sealed_whole check (
    (company_key_id is null) = (sealed_verifier is null)
  ),
  constraint authorization_attempts_company_key_fkey foreign key (company_key_id)
    references integrations.company_keys (id),
  -- A connection that is removed takes its attempts along: a late callback finds none.
  constraint authorization_attempts_connection_fkey foreign key (connection_id)
    references integrations.connections (id) on delete cascade
);
-- One attempt of a connection can succeed: a newer one replaces it.
create unique index authorization_attempts_open_key
  on integrations.authorization_attempts (connection_id) where state = 'open';
create index authorization_attempts_by_connection
  on integrations.authorization_attempts (connection_id, created_at desc);
create index authorization_attempts_open_of_company
  on integrations.authorization_attempts (company_id) where state = 'open';
create index authorization_attempts_due
  on integrations.authorization_attempts (expires_at) where state = 'open';
create index authorization_attempts_ended
  on integrations.authorization_attempts (ended_at) where state <> 'open';

-- Access of connections that were disconnected, until the provider or broker has taken it back.
create table integrations.revocations (
  id uuid not null,
  company_id uuid not null,
  -- The connection that it was of; credentials are encrypted for it.
  connection_id text collate "C" not null,
  provider text collate "C" not null,
  fields jsonb not null,
  company_key_id uuid,
  sealed_credentials bytea,
  broker_connection_id text collate "C",
  tries smallint not null default 0,
  next_try_at timestamptz(3) not null default now(),
  -- What went wrong the last time, in our own words.
  last_error text,
  created_at timestamptz(3) not null default now(),
  constraint revocations_pkey primary key (id),
  constraint revocations_sealed_whole check (
    (company_key_id is null) = (sealed_credentials is null)
  ),
  constraint revocations_company_key_fkey foreign key (company_key_id)
    references integrations.company_keys (id)
);
alter table integrations.revocations alter column sealed_credentials set storage external;
create index revocations_due on integrations.revocations (next_try_at);

-- Renewals that failed for the moment are tried again with growing pauses, by whichever replica.
alter table integrations.connections
  add column renewal_failures smallint not null default 0,
  add column renew_after timestamptz(3);
create index connections_ending
  on integrations.connections (credentials_expire_at)
  where status = 'active' and credentials_expire_at is not null;
