-- Old rows of the audit log may go (AUDIT_RETENTION_DAYS, D58), always from the beginning of a chain.

-- Where each company's chain begins since rows were removed: what the first kept row must continue.
create table gateway.audit_starts (
  company_id uuid not null,
  -- The last row that was removed, and its hash.
  seq bigint not null,
  hash bytea not null,
  moved_at timestamptz(3) not null default now(),
  constraint audit_starts_pkey primary key (company_id),
  constraint audit_starts_hash_length check (octet_length(hash) = 32)
);

revoke insert, update, delete on gateway.audit_starts from workflow_gateway;

-- Removes the rows of a chain up to one, and moves the chain's start to it; returns how many. With the
-- rights of the owner: to the gateway's role this is the only way to remove rows. None of the last
-- 29 days can go (30, and a day for clocks that differ), so who has taken a gateway removes no trace of
-- it, and an event that is delivered again (NATS keeps it for 7 days) is still known.
create function gateway.trim_audit_chain(company uuid, until_seq bigint) returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  start_seq bigint;
  removed integer;
  newest timestamptz;
  last_seq bigint;
  last_hash bytea;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit trim', 0));
  select seq into start_seq from gateway.audit_starts where company_id = company;
  start_seq := coalesce(start_seq, 0);
  with gone as (
    delete from gateway.audit_log
    where company_id = company and seq > start_seq and seq <= until_seq
    returning seq, hash, created_at
  )
  select count(*), max(created_at), max(seq), (array_agg(hash order by seq desc))[1]
  into removed, newest, last_seq, last_hash
  from gone;
  if removed = 0 then return 0; end if;
  if newest > now() - interval '29 days' then
    raise exception 'rows of the audit log of company % are too young to be removed', company
      using errcode = 'integrity_constraint_violation', constraint = 'audit_log_young';
  end if;
  -- A gap is for verify-audit to be found.
  if last_seq <> until_seq or removed <> until_seq - start_seq then
    raise exception 'the audit chain of company % has a gap before row %', company, until_seq
      using errcode = 'integrity_constraint_violation', constraint = 'audit_log_chain';
  end if;
  insert into gateway.audit_starts (company_id, seq, hash)
  values (company, last_seq, last_hash)
  on conflict (company_id) do update
  set seq = excluded.seq, hash = excluded.hash, moved_at = excluded.moved_at;
  return removed;
end
$$;
