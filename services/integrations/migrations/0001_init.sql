-- Secrets of workflows under envelope encryption: a key encryption key (KEK), which is a setting and
-- never stored, wraps one key a company, which encrypts that company's values.

-- The KEKs that company keys may be wrapped with. The reference from company_keys is what makes a
-- retirement safe: a KEK in use cannot be deleted here, and one deleted here cannot be used by a
-- process that has not heard of it.
create table integrations.keks (
  -- The first 16 hexadecimal digits of the SHA-256 of the key.
  id text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  constraint keks_pkey primary key (id)
);

create table integrations.company_keys (
  id uuid not null,
  company_id uuid not null,
  kek_id text collate "C" not null,
  wrapped_key bytea not null,
  created_at timestamptz(3) not null default now(),
  constraint company_keys_pkey primary key (id),
  -- Decides between several first secrets of a company that come at once.
  constraint company_keys_company_key unique (company_id),
  constraint company_keys_kek_fkey foreign key (kek_id) references integrations.keks (id)
);
create index company_keys_by_kek on integrations.company_keys (kek_id, id);

create table integrations.secrets (
  id uuid not null,
  company_id uuid not null,
  workflow_id uuid not null,
  -- In the order of code units, as lists show it.
  key text collate "C" not null,
  company_key_id uuid not null,
  sealed_value bytea not null,
  -- Kept, so that lists need not decrypt (D45).
  masked_value text not null,
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint secrets_pkey primary key (id),
  constraint secrets_key_key unique (company_id, workflow_id, key),
  constraint secrets_key_form check (key ~ '^[A-Z][A-Z0-9_]{0,63}$'),
  constraint secrets_company_key_fkey foreign key (company_key_id)
    references integrations.company_keys (id)
) with (fillfactor = 90);
-- What is encrypted does not compress.
alter table integrations.secrets alter column sealed_value set storage external;

-- Workflows whose archiving has been heard of: no secret is stored for one any more.
create table integrations.archived_workflows (
  company_id uuid not null,
  workflow_id uuid not null,
  archived_at timestamptz(3) not null default now(),
  constraint archived_workflows_pkey primary key (company_id, workflow_id)
);
