-- What other services have to hear of, written with the change that makes it true.
create table workflows.outbox (
  seq bigint generated always as identity,
  id text not null,
  type text not null,
  company_id uuid not null,
  payload json not null,
  created_at timestamptz not null default now(),
  published_at timestamptz,
  constraint outbox_pkey primary key (seq),
  constraint outbox_id_key unique (id)
);
create index outbox_unpublished on workflows.outbox (seq) where published_at is null;
