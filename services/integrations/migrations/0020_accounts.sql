-- Events are routed by the account that they are of: its active connections, one of each company.
create index connections_active_by_account
  on integrations.connections (provider, external_account_id, company_id, id)
  where status = 'active' and external_account_id is not null;
drop index integrations.connections_by_account;

-- Some providers send events only when they were asked to, for each account, again and again.
alter table integrations.connections
  -- When to ask (again); null: not asked yet for the account that it has.
  add column subscribe_after timestamptz(3),
  add column subscription_failures smallint not null default 0,
  -- Why the provider was not persuaded the last time; null when it was.
  add column subscription_error text;
create index connections_to_subscribe
  on integrations.connections (provider, coalesce(subscribe_after, '-infinity'))
  where status = 'active';
