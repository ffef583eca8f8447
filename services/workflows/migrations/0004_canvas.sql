-- What the visual editor keeps with a workflow, as its caller wrote it. A save of it raises
-- content_revision like any other change of what callers read.
alter table workflows.workflows
  add column canvas_state json,
  add column canvas_saved_at timestamptz(3),
  -- When content or canvas last changed, unlike updated_at not by a change of status. Null in rows
  -- that were written before there was this column.
  add column modified_at timestamptz(3),
  add constraint workflows_canvas_saved check ((canvas_state is null) = (canvas_saved_at is null));

alter table workflows.workflow_versions
  -- Goes back with the steps that it shows.
  add column canvas_state json,
  -- As in workflows.workflows; null in rows that were written before there was this column.
  add column content_bytes integer;

-- For the search by name. Both are trusted extensions and part of every distribution of Postgres. In
-- a schema of no service, so that each can use them.
create extension if not exists pg_trgm with schema public;
create extension if not exists btree_gin with schema public;
