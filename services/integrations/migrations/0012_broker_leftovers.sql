-- Accounts that people connect at the broker for attempts which end without us taking them. A row is there
-- before anybody gets the link, so that no way in which an attempt can end has to think of it.

create table integrations.broker_leftovers (
  -- The tag of what is removed at the broker once the attempt is over; not what a connection of ours uses.
  -- No foreign key: it stays when the attempt is removed with its connection.
  attempt_id uuid not null,
  company_id uuid not null,
  -- What the broker calls the provider.
  integration text collate "C" not null,
  -- Until then the person may still finish at the broker, so it is asked again after that.
  link_ends_at timestamptz(3) not null,
  -- In a row that have failed.
  tries smallint not null default 0,
  next_try_at timestamptz(3) not null default now(),
  -- What went wrong the last time, in our own words.
  last_error text,
  created_at timestamptz(3) not null default now(),
  constraint broker_leftovers_pkey primary key (attempt_id)
);
create index broker_leftovers_due on integrations.broker_leftovers (next_try_at);
-- They are counted before another link is handed out.
create index broker_leftovers_of_company on integrations.broker_leftovers (company_id);

-- Callbacks for the broker are counted without a limit; replicas together may ask every second of a day.
alter table integrations.authorization_attempts alter column tries type integer;
