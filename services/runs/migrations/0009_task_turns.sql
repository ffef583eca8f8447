-- Turns between companies, and pauses that grow for tasks that come to nothing.

alter table runs.tasks
  -- Whose run it is; null for those that an earlier version of the service has stored.
  add column company_id uuid,
  -- How often it was given back in a row without having come to anything.
  add column attempts integer not null default 0;

update runs.tasks as task
set company_id = run.company_id
from runs.runs as run
where run.id = task.run_id;

-- The oldest due tasks of each company, found without looking at those of the others.
create index tasks_by_company on runs.tasks (company_id, due_at) where due_at < 'infinity';
-- The few whose workers died, which are executed one at a time.
create index tasks_taken_over on runs.tasks (due_at) where takeovers > 0;
