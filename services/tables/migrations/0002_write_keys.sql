-- Writes that carried a key, so that one that is sent again is made once.
create table tables.row_write_keys (
  table_key bigint not null,
  key text collate "C" not null,
  -- The row that was written. One that was added is told again from here, even when it is gone.
  row_id uuid not null,
  position bigint not null,
  revision bigint not null,
  created_at timestamptz(3) not null default now(),
  constraint row_write_keys_pkey primary key (table_key, key)
);
create index row_write_keys_age_idx on tables.row_write_keys (created_at);
