-- How many bytes of JSON the rows of a table have. Triggers keep the count, so code that knows nothing of it
-- cannot make it wrong. Every write of rows has locked the table's state before, so nobody waits for another lock.
-- Null: not counted yet (0006). Tables that are made from now on begin with 0.
alter table tables.table_states add column row_bytes bigint;
alter table tables.table_states alter column row_bytes set default 0;

create function tables.count_row_bytes() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    update tables.table_states as state
    set row_bytes = state.row_bytes + (
      select sum(octet_length(r.data::text)) from added as r where r.table_key = state.table_key
    )
    where state.table_key = any(array(select distinct r.table_key from added as r));
  elsif tg_op = 'UPDATE' then
    -- No row goes from one table to another.
    update tables.table_states as state
    set row_bytes = state.row_bytes
      + (select sum(octet_length(r.data::text)) from added as r where r.table_key = state.table_key)
      - (select sum(octet_length(r.data::text)) from removed as r where r.table_key = state.table_key)
    where state.table_key = any(array(select distinct r.table_key from added as r));
  else
    -- Of a deleted table the state is gone, and nothing is unpacked to be counted.
    update tables.table_states as state
    set row_bytes = state.row_bytes - (
      select sum(octet_length(r.data::text)) from removed as r where r.table_key = state.table_key
    )
    where state.table_key = any(array(select distinct r.table_key from removed as r));
  end if;
  return null;
end
$$;

create trigger rows_inserted_bytes after insert on tables.rows
  referencing new table as added
  for each statement execute function tables.count_row_bytes();
create trigger rows_updated_bytes after update on tables.rows
  referencing old table as removed new table as added
  for each statement execute function tables.count_row_bytes();
create trigger rows_deleted_bytes after delete on tables.rows
  referencing old table as removed
  for each statement execute function tables.count_row_bytes();
