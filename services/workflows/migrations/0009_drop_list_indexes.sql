drop index workflows.workflows_list_idx;
drop index workflows.workflows_list_by_status_idx;
