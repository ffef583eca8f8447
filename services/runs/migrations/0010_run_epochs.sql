alter table runs.runs
  -- The newest lease under which the run was executed; what an execution writes must name it.
  add column epoch bigint not null default 0;

alter table runs.tasks
  -- Whether the worker that holds it has begun to execute it: only then its death is counted.
  add column begun boolean not null default false;

-- Runs that nobody waits for any more: noted with what made it so, and cancelled afterwards.
create table runs.given_up_runs (
  id bigint generated always as identity,
  run_id text collate "C" not null,
  constraint given_up_runs_pkey primary key (id)
);
