-- Agents of companies: a prompt with the settings under which a model is asked (D43). The core agents, which
-- all companies have, are part of the program.

create table integrations.agents (
  id uuid not null,
  company_id uuid not null,
  name text collate "C" not null,
  description text,
  type text not null,
  status text not null default 'active',
  -- Its model is a setting of the installation, so that agents follow when the operator moves on (ADR 40).
  provider text not null,
  system_prompt text not null,
  -- Kept as it was sent; null: answers are text.
  output_schema json,
  temperature double precision not null,
  max_tokens integer not null,
  version integer not null default 1,
  -- Of the prompt and the schema: lists hold a bounded number of bytes.
  content_bytes integer not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint agents_pkey primary key (id),
  constraint agents_type check (
    type in ('extraction', 'content', 'transform', 'decision', 'code', 'classification', 'custom')
  ),
  constraint agents_status check (status in ('active', 'deprecated')),
  constraint agents_provider check (provider in ('openai', 'anthropic')),
  constraint agents_temperature check (temperature between 0 and 2),
  constraint agents_max_tokens check (max_tokens between 1 and 128000),
  constraint agents_version check (version >= 1)
) with (fillfactor = 80);
-- Lists, newest first (D6).
create index agents_by_company
  on integrations.agents (company_id, status, created_at desc, id desc);
-- Names are as they were written: two that differ in case are two.
create unique index agents_active_name_key
  on integrations.agents (company_id, name)
  where status = 'active';
