-- Connections whose provider said that it is called too often. A row is short-lived: it goes some minutes
-- after its last turn, so there are as many as connections that were paused lately.

create table integrations.connection_pauses (
  connection_id text collate "C" not null,
  company_id uuid not null,
  -- Nothing is called before.
  paused_until timestamptz not null,
  -- The turn that the next caller gets; until then callers wait for one.
  next_turn_at timestamptz not null,
  -- How often in a row the provider has said so.
  strikes integer not null,
  -- How many callers were given a turn since: the more, the closer they follow each other.
  turns integer not null default 0,
  constraint connection_pauses_pkey primary key (connection_id),
  constraint connection_pauses_order check (next_turn_at >= paused_until)
) with (fillfactor = 50);
-- Replicas look every half second which of them go on.
create index connection_pauses_by_turn on integrations.connection_pauses (next_turn_at);

-- The only active connection of a provider, for steps that name none.
create index connections_active
  on integrations.connections (company_id, provider, id)
  where status = 'active';
