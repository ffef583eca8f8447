-- Events are routed by the account that they are of: its active connections, one of each company.
create index connections_active_by_account
  on integrations.connections (provider, external_account_id, company_id, id)
  where status = 'active' and external_account_id is not null;
drop index integrations.connections_by_account;
