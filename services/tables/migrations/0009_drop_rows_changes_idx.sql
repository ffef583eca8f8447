-- no-transaction
-- safe beside old code: until it ends, it finds changes by reading all rows of their table.
drop index concurrently if exists tables.rows_changes_idx;
