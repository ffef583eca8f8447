-- What agents were asked and what came of it (D43), what is being asked at the moment, and how many of a
-- company's tokens a UTC day has seen (D63).

create table integrations.agent_executions (
  id text collate "C" not null,
  company_id uuid not null,
  -- A UUID, or the id of a core agent, which has no row.
  agent_id text collate "C" not null,
  agent_version integer not null,
  status text not null default 'running',
  -- With secrets masked, as everything of the caller's here.
  input json not null,
  user_message text,
  output json,
  -- The model's last answer word by word.
  raw_output text,
  provider text not null,
  model text not null,
  -- Of all attempts.
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  total_tokens bigint not null default 0,
  duration_ms bigint,
  finish_reason text,
  schema_valid boolean,
  repair_attempts smallint not null default 0,
  -- What of the agent's settings was not sent: an array of texts.
  warnings json not null default '[]',
  workflow_run_id text,
  -- Why there is no output: code, message, details.
  error json,
  -- Of a step's question. Given back when it ends without an answer, so that the next try asks anew.
  idempotency_key text,
  -- The row of agent_calls while it runs; who holds another one changes nothing.
  claim uuid not null,
  created_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  constraint agent_executions_pkey primary key (id),
  constraint agent_executions_status check (
    status in ('running', 'completed', 'failed', 'cancelled')
  ),
  constraint agent_executions_ended check ((status = 'running') = (ended_at is null)),
  constraint agent_executions_output check ((status = 'completed') = (output is not null)),
  constraint agent_executions_error check ((status in ('failed', 'cancelled')) = (error is not null))
);
-- Lists, newest first (D6).
create index agent_executions_by_agent
  on integrations.agent_executions (company_id, agent_id, created_at desc, id desc);
create unique index agent_executions_idempotency_key
  on integrations.agent_executions (company_id, idempotency_key)
  where idempotency_key is not null;
create unique index agent_executions_running_key
  on integrations.agent_executions (claim)
  where status = 'running';

-- Calls under way, recorded as executions or not. Few rows that are changed all the time, so no index but
-- the key: renewals of the lease stay within the page.
create table integrations.agent_calls (
  claim uuid not null,
  company_id uuid not null,
  -- Whose tokens are held.
  day date not null,
  reserved bigint not null,
  -- The process that asks renews this; afterwards it counts as dead.
  held_until timestamptz(3) not null,
  constraint agent_calls_pkey primary key (claim),
  constraint agent_calls_reserved check (reserved >= 0)
) with (fillfactor = 50);

create table integrations.agent_token_days (
  company_id uuid not null,
  day date not null,
  used bigint not null,
  -- Held by calls under way.
  reserved bigint not null,
  constraint agent_token_days_pkey primary key (company_id, day),
  constraint agent_token_days_amounts check (used >= 0 and reserved >= 0)
) with (fillfactor = 50);
create index agent_token_days_by_day on integrations.agent_token_days (day);
