-- Events of the bus that the service could not handle, and those whose failures are still counted; see
-- packages/events.
create table webhooks.dead_letters (
  id uuid not null,
  stream text collate "C" not null,
  consumer text collate "C" not null,
  -- Of a message that is no event, its place in the stream.
  event_id text collate "C" not null,
  type text collate "C" not null,
  -- Null for what is no event.
  company_id uuid,
  attempts integer not null,
  -- Of the last failure; no values of the event.
  error text not null,
  first_failed_at timestamptz(3) not null default now(),
  last_failed_at timestamptz(3) not null default now(),
  -- From then on it does not come again; null while failures are counted.
  dead_at timestamptz(3),
  -- As it travelled; null when it is too big, or too much is kept already.
  body bytea,
  gzipped boolean not null default false,
  body_bytes integer,
  -- From then on the consumer is to handle it once more; null when nobody asked for it.
  redrive_at timestamptz(3),
  constraint dead_letters_pkey primary key (id),
  constraint dead_letters_event unique (consumer, stream, event_id)
);
create index dead_letters_age_idx on webhooks.dead_letters (last_failed_at);
create index dead_letters_redrive_idx on webhooks.dead_letters (redrive_at) where redrive_at is not null;
