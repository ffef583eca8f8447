-- Which workers execute what (ADR 63). A task has the pool in its row, so that a claim is one look at an index.
create table runs.worker_pools (
  company_id uuid not null,
  -- Of workflows; null: all that no other rule of the company is about.
  tag text collate "C",
  pool text collate "C" not null,
  constraint worker_pools_key unique nulls not distinct (company_id, tag),
  constraint worker_pools_name check (pool ~ '^[a-z][a-z0-9-]{0,39}$')
);

-- Code before this knows no pools: what it stores is of the default one, and it claims from all.
alter table runs.tasks add column pool text collate "C" not null default 'default';

-- In place of those before, so that nobody pays for more indexes than they had. Workers of the release before find
-- what is due without them, only more slowly.
create index tasks_due_in_pool on runs.tasks (pool, due_at);
create index tasks_of_company_in_pool on runs.tasks (pool, company_id, due_at) where due_at < 'infinity';
create index tasks_taken_over_in_pool on runs.tasks (pool, due_at) where takeovers > 0;
drop index runs.tasks_due, runs.tasks_by_company, runs.tasks_taken_over;
