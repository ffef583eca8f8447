-- Pages of widgets (D52). Only their owner changes them; a change of widgets locks the dashboard's
-- row, so that layouts, numbers of widgets and updated_at stay consistent.
create table workflows.dashboards (
  id uuid not null,
  company_id uuid not null,
  owner_id uuid not null,
  name text not null,
  description text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint dashboards_pkey primary key (id),
  constraint dashboards_name_length check (char_length(name) between 1 and 255)
);
create index dashboards_list_idx on workflows.dashboards (company_id, created_at desc, id desc);

create table workflows.dashboard_widgets (
  id uuid not null,
  dashboard_id uuid not null,
  company_id uuid not null,
  type text not null,
  title text not null,
  -- As its caller wrote it, so json; members that the service knows are checked before.
  config json not null,
  refresh_interval_ms integer not null,
  x integer not null,
  y integer not null,
  w integer not null,
  h integer not null,
  created_at timestamptz(3) not null default now(),
  constraint dashboard_widgets_pkey primary key (id),
  constraint dashboard_widgets_dashboard_fkey foreign key (dashboard_id)
    references workflows.dashboards (id) on delete cascade,
  constraint dashboard_widgets_type_known check (type in ('metric', 'line', 'bar', 'table', 'text')),
  constraint dashboard_widgets_on_grid check (
    x >= 0 and y >= 0 and w between 1 and 12 and h between 1 and 12 and x + w <= 12
  )
);
create index dashboard_widgets_dashboard_idx on workflows.dashboard_widgets (dashboard_id);
