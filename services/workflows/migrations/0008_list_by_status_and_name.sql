-- no-transaction
-- Takes the place of workflows_list_by_status_idx, see 0007.
create index concurrently workflows_list_by_status_and_name_idx
  on workflows.workflows (company_id, status, created_at desc, id desc) include (name);
