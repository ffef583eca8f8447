-- no-transaction
-- Counts the rows of tables that were there before 0005, each table in a transaction of its own: writers of
-- one table wait while it is counted. What is written before or after that the triggers count. When it is
-- interrupted it goes on where it stopped.
-- safe beside old code: a state that it makes begins with the default of 0005, which is no null.
do $$
declare
  uncounted bigint;
begin
  for uncounted in select table_key from tables.table_states where row_bytes is null loop
    -- A statement of its own: the count must not be older than the lock.
    perform from tables.table_states where table_key = uncounted for update;
    update tables.table_states
    set row_bytes = (
      select coalesce(sum(octet_length(r.data::text)), 0)
      from tables.rows as r
      where r.table_key = uncounted
    )
    where table_key = uncounted and row_bytes is null;
    commit;
  end loop;
  alter table tables.table_states alter column row_bytes set not null;
end
$$;
