-- A hand-over that the execution plane refuses ends: an activation that it never took is taken back,
-- another change rests until the next one. Nullable columns without a default are added at once.
alter table workflows.workflows
  -- The deploy_revision that the last activation has made, and the status before it.
  add column activation_revision bigint,
  add column activated_from text,
  -- The newest deploy_revision that the execution plane has refused, and when.
  add column refused_revision bigint,
  add column refused_at timestamptz(3),
  add constraint workflows_activated_from check (activated_from in ('draft', 'paused')) not valid;
