-- no-transaction
-- Takes the place of workflows_list_idx. With the name in it a search that walks along the list reads
-- no rows but those that it finds.
create index concurrently workflows_list_by_name_idx
  on workflows.workflows (company_id, created_at desc, id desc) include (name)
  where status <> 'archived';
