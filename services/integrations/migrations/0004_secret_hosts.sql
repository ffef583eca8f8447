-- The hosts that a secret may be sent to (D66); null: anywhere, as every secret until now.
alter table integrations.secrets
  add column allowed_hosts text[],
  add constraint secrets_allowed_hosts check (cardinality(allowed_hosts) between 1 and 20);
