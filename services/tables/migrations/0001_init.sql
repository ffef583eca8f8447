-- Folders of tables, one level deep.
create table tables.folders (
  id uuid not null,
  company_id uuid not null,
  -- Compared by its bytes: names that differ in case are different ones.
  name text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint folders_pkey primary key (id),
  constraint folders_name_unique unique (company_id, name),
  constraint folders_name_length check (char_length(name) between 1 and 255)
);

-- What tables say about themselves. What each write of a row changes stands in table_states.
create table tables.tables (
  -- Short form of the id, for the keys of rows.
  key bigint generated always as identity,
  id uuid not null,
  company_id uuid not null,
  name text not null,
  description text,
  -- As the caller wrote it, with `columns` as this service understands them.
  schema json not null,
  metadata json not null,
  folder_id uuid,
  -- Whether changes of rows are told as events.
  row_events boolean not null default false,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint tables_pkey primary key (key),
  constraint tables_id_key unique (id),
  constraint tables_folder_fkey foreign key (folder_id) references tables.folders (id),
  constraint tables_name_length check (char_length(name) between 1 and 255)
);
create index tables_list_idx on tables.tables (company_id, created_at desc, id desc);
create index tables_folder_idx on tables.tables (folder_id, created_at desc, id desc)
  where folder_id is not null;

-- One narrow row a table, changed by each write of its rows: that makes writers of one table take
-- turns, so revisions are committed in their order and row_count never passes max_rows.
create table tables.table_states (
  table_key bigint not null,
  company_id uuid not null,
  max_rows integer not null,
  row_count integer not null default 0,
  -- Position of the next row. Positions are never given twice.
  next_position bigint not null default 0,
  -- One more with each transaction that writes rows; rows carry the one that wrote them.
  revision bigint not null default 0,
  -- Deletions up to this revision are no longer told by row_deletions.
  deletions_forgotten_to bigint not null default 0,
  -- One more with each change of what the table says about itself.
  schema_revision bigint not null default 1,
  constraint table_states_pkey primary key (table_key),
  constraint table_states_table_fkey foreign key (table_key) references tables.tables (key),
  constraint table_states_max_rows_range check (max_rows between 1 and 100000),
  constraint table_states_row_count_positive check (row_count >= 0)
) with (fillfactor = 50);

-- Rows carry no foreign key: it would lock the table's row for each of them, and a table is deleted
-- together with its rows under the lock of its state.
create table tables.rows (
  table_key bigint not null,
  position bigint not null,
  id uuid not null,
  -- Values by column id. json, not jsonb: it keeps the members' order, and a member is read out of it
  -- as fast.
  data json not null,
  -- The table's revision that wrote it.
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint rows_pkey primary key (table_key, position),
  constraint rows_id_key unique (id)
);
-- What has changed since a revision.
create index rows_changes_idx on tables.rows (table_key, revision);

-- Which rows were deleted lately, for readers that keep a table's columns in memory.
create table tables.row_deletions (
  table_key bigint not null,
  revision bigint not null,
  position bigint not null,
  deleted_at timestamptz not null default now(),
  constraint row_deletions_pkey primary key (table_key, revision, position)
);
create index row_deletions_age_idx on tables.row_deletions (deleted_at);

-- What other services hear of, written with the change that it tells of.
create table tables.outbox (
  seq bigint generated always as identity,
  stream text not null default 'tables',
  id text not null,
  type text not null,
  company_id uuid not null,
  payload json not null,
  created_at timestamptz not null default now(),
  published_at timestamptz,
  constraint outbox_pkey primary key (seq),
  constraint outbox_id_key unique (id)
);
create index outbox_pending on tables.outbox (stream, seq) where published_at is null;
