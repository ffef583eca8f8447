-- What other services hear of, written with the change that it tells of: so far who changed what (D51).
create table integrations.outbox (
  seq bigint generated always as identity,
  stream text not null default 'integrations',
  id text not null,
  type text not null,
  company_id uuid not null,
  payload json not null,
  created_at timestamptz not null default now(),
  published_at timestamptz,
  constraint outbox_pkey primary key (seq),
  constraint outbox_id_key unique (id)
);
create index outbox_pending on integrations.outbox (stream, seq) where published_at is null;
