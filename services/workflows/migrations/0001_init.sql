-- Workflows as their callers wrote them. Definition columns are json, not jsonb: it keeps the text
-- as sent (key order, numbers, keys such as "__proto__"), so reads hand it on without parsing.
create table workflows.workflows (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  description text,
  status text not null,
  version integer not null default 1,
  trigger json not null,
  steps json not null,
  input_schema json,
  output_schema json,
  settings json,
  cloned_from uuid,
  -- Bytes of description and definition together. Known without detoasting, so that a page of large
  -- workflows can be cut before it is read.
  content_bytes integer not null,
  -- One more with each change of name, description or definition: tells whether what was validated
  -- is still what is stored.
  content_revision bigint not null default 1,
  -- In the caller's words, what made the current version differ from the one before it.
  change_summary text,
  -- State-based outbox: one more with each change that the execution plane has to know. A row is
  -- due for a hand-over while deployed_revision, the newest one known to have arrived, is behind.
  deploy_revision bigint not null default 0,
  deployed_revision bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version_created_at timestamptz(3) not null default now(),
  constraint workflows_pkey primary key (id),
  constraint workflows_name_length check (char_length(name) between 1 and 255),
  constraint workflows_status_known check (status in ('draft', 'active', 'paused', 'archived')),
  constraint workflows_version_positive check (version >= 1),
  constraint workflows_deployed_not_ahead check (deployed_revision between 0 and deploy_revision)
);

-- The list as callers mostly ask for it: everything that is not archived, newest first.
create index workflows_list_idx on workflows.workflows (company_id, created_at desc, id desc)
  where status <> 'archived';

-- The list of one status. Searches by name walk one of these two as well: they touch the workflows
-- of one company only, which a trigram index over all companies would not.
create index workflows_list_by_status_idx
  on workflows.workflows (company_id, status, created_at desc, id desc);

-- What still has to be handed over; empty nearly always.
create index workflows_due_idx on workflows.workflows (id)
  where deploy_revision > deployed_revision;

-- Versions that are no longer current, each exactly once (D20).
create table workflows.workflow_versions (
  workflow_id uuid not null,
  version integer not null,
  company_id uuid not null,
  name text not null,
  description text,
  trigger json not null,
  steps json not null,
  input_schema json,
  output_schema json,
  settings json,
  -- In the caller's words, what the update changed that archived this version.
  change_summary text,
  created_at timestamptz(3) not null,
  archived_at timestamptz(3) not null,
  constraint workflow_versions_pkey primary key (workflow_id, version),
  constraint workflow_versions_workflow_fkey foreign key (workflow_id)
    references workflows.workflows (id)
);

-- Signs this service's list cursors (D6). One row, made here so that all replicas share it.
create table workflows.cursor_key (
  only_row boolean not null default true,
  key bytea not null,
  constraint cursor_key_pkey primary key (only_row),
  constraint cursor_key_single check (only_row)
);

insert into workflows.cursor_key (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
