-- no-transaction
-- What has changed since a revision, as rows_changes_idx, but of rows that were written after their table was made.
-- A question for all rows of a table does not match it, so no plan reads a range of positions by it (ADR 81).
create index concurrently rows_by_revision_idx on tables.rows (table_key, revision)
  where revision > 0;
