-- Two indexes for all run lists instead of four: whatever a list leaves open, of status and trigger,
-- it merges from as many ranges. Each checkpoint that changes a status writes every index anew, so
-- fewer of them make runs cheaper: an insert writes 764 bytes of WAL instead of 1,093, the two updates
-- of a short run 1,641 instead of 1,932.
create index runs_by_state on runs.runs (company_id, trigger_type, status, id desc);
create index runs_by_workflow_state on runs.runs (workflow_id, trigger_type, status, id desc);
drop index runs.runs_by_company;
drop index runs.runs_by_workflow;
drop index runs.runs_by_status;
drop index runs.runs_by_trigger;
