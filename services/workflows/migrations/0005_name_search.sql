-- no-transaction
create index concurrently workflows_name_idx on workflows.workflows
  using gin (company_id public.uuid_ops, lower(name) public.gin_trgm_ops);
