-- no-transaction
-- The tables of a company, whose bytes are summed up before rows are written. Without row_bytes, though the index
-- would then hold all that is read: each write of rows changes it, and would have to write to every index.
create index concurrently table_states_company_idx on tables.table_states (company_id);
