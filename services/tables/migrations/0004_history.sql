-- Names the history that a statement sees: the same text as before means that nothing which was read
-- before has been lost since. Revisions alone do not tell: a database that was set back counts on from a
-- lower number and reaches the old one again.
--
-- The timeline changes when a standby takes over and when a backup is restored. The start of the server
-- changes also when a copy of the data folder is put back. The oid changes when a dump is loaded into a
-- running server. A crash of one backend leaves all three as they are, since the server itself stays: so the
-- tables service commits synchronously (synchronous_commit=on in its sessions), and nothing that it has read
-- back is lost by such a crash.
create function tables.history() returns text
language plpgsql stable
as $$
begin
  return left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8)
    || '-' || extract(epoch from pg_catalog.pg_postmaster_start_time())::text
    || '-' || 'tables.table_states'::regclass::oid::text;
exception
  -- A standby writes no log.
  when object_not_in_prerequisite_state then
    raise exception using
      errcode = 'read_only_sql_transaction',
      message = 'this server is a standby; data tables are read from the primary only';
  -- Servers that somebody else manages may refuse the log. A standby that takes over there has another
  -- start.
  when insufficient_privilege or undefined_function or feature_not_supported then
    if pg_catalog.pg_is_in_recovery() then
      raise exception using
        errcode = 'read_only_sql_transaction',
        message = 'this server is a standby; data tables are read from the primary only';
    end if;
    return extract(epoch from pg_catalog.pg_postmaster_start_time())::text
      || '-' || 'tables.table_states'::regclass::oid::text;
end
$$;
