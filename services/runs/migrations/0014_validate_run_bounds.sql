-- Everything that takes long and holds up nobody.

alter table runs.runs validate constraint runs_first_bound;
alter table runs.step_results validate constraint step_results_first_bound;

-- Those that come meanwhile are noted by the trigger of the migration before.
insert into runs.child_runs (parent_run_id, parent_step, run_id)
select parent_run_id, parent_step, id
from runs.runs
where parent_run_id is not null
on conflict do nothing;

-- From now on published events are deleted, not marked; these are marked.
delete from runs.outbox where published_at < 'infinity';
