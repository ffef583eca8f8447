alter table runs.open_steps
  -- Whether due_at is a turn that a paused connection gave; else it is the end of another wait.
  add column has_turn boolean not null default false;
